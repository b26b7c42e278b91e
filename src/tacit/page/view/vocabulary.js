/** Words for what a person says of an item: they rate it, or, on the scale there, they mark it. */

import { UNRATED } from "../device/documents/channel.js";
import { hasOneLevel } from "../device/documents/scale.js";

/**
 * `noun`: one thing that is said; `did`: what the person did by saying it; `none`: that nothing is
 * said of an item; `hidden`: what the noise hides; `truth`: what recommendations come from;
 * `yours`: what has no part in what is asked; `either`: between what epsilon hides it.
 * @typedef {{ readonly noun: string, readonly did: string, readonly none: string,
 *   readonly hidden: string, readonly truth: string, readonly yours: string,
 *   readonly either: string }} Vocabulary
 */

/** @type {Vocabulary} */
const RATE = {
  noun: "rating",
  did: "rated",
  none: "not rated",
  hidden: "How you rated",
  truth: "your true ratings, which stay",
  yours: "your ratings have",
  either: "for one rating, or none, than for another",
};

/** @type {Vocabulary} */
const MARK = {
  noun: "mark",
  did: "marked",
  none: "not there",
  hidden: "What you did",
  truth: "what you did, which stays",
  yours: "what you did has",
  either: "for a thing that is there than for one that is not, or the other way round",
};

/**
 * @param {import("../device/documents/task.js").Task} task
 * @returns {Vocabulary}
 */
export function vocabulary({ scale }) {
  return hasOneLevel(scale) ? MARK : RATE;
}

/**
 * A value that an answer is for: a level, or none.
 * @param {{ readonly levels: readonly string[] }} scale or a channel over it
 * @param {string} value
 * @returns {string}
 */
export function valueInWords(scale, value) {
  const one = hasOneLevel(scale);
  if (value === UNRATED) return (one ? MARK : RATE).none;
  return one ? "there" : value;
}

/**
 * Puts into the document what it says where a question has one level: every element that has such
 * words carries them beside its own.
 * @param {import("../device/documents/task.js").Task} task
 * @param {Iterable<HTMLElement>} elements
 */
export function reword({ scale }, elements) {
  if (!hasOneLevel(scale)) return;
  for (const element of elements) element.textContent = element.dataset["there"] ?? "";
}
