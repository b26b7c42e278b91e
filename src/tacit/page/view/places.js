/** Updates of the elements of index.html: text, content and focus. */

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

/** Scroll to an element and focus it. @param {string} id */
export function look(id) {
  const place = find(id, HTMLElement);
  place.scrollIntoView({ block: "start" });
  place.focus({ preventScroll: true });
}

/**
 * Set the text of all elements of index.html with a `data-text` attribute.
 * @param {{ readonly [name: string]: string }} texts by the value of the attribute
 */
export function fillPlaces(texts) {
  const places = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-text]"));
  for (const place of places) place.textContent = texts[place.dataset["text"] ?? ""] ?? "";
}

/**
 * Yield to the browser, so that it can render and handle input during long computations.
 * @returns {Promise<void>}
 */
export function breathe() {
  return new Promise((go) => setTimeout(go));
}
