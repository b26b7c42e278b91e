/** The places that index.html has: what they say and show, and where eyes go. */

import { find } from "./dom.js";

/**
 * @param {string} id
 * @param {string} text
 */
export function say(id, text) {
  find(id, HTMLElement).textContent = text;
}

/**
 * @param {string} id
 * @param {HTMLElement} view
 */
export function fill(id, view) {
  const place = find(id, HTMLElement);
  if (place.firstChild !== view) place.replaceChildren(view);
}

/** Takes eyes and focus to a place. @param {string} id */
export function look(id) {
  const place = find(id, HTMLElement);
  place.scrollIntoView({ block: "start" });
  place.focus({ preventScroll: true });
}

/**
 * Puts words where index.html names them.
 * @param {{ readonly [place: string]: string }} said
 */
export function fillPlaces(said) {
  const places = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-say]"));
  for (const place of places) place.textContent = said[place.dataset["say"] ?? ""] ?? "";
}

/**
 * Lets the browser draw, and answer to the person, before more is worked out.
 * @returns {Promise<void>}
 */
export function breathe() {
  return new Promise((go) => setTimeout(go));
}
