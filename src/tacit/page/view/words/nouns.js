/** Building blocks of texts: the nouns for ratings and marks, and their plurals. */

import { UNRATED } from "../../device/documents/channel.js";
import { hasOneLevel } from "../../device/documents/scale.js";
import { grouped, short } from "../numbers.js";

/** @typedef {import("../../device/documents/task.js").Task} Task */
/** @typedef {{ readonly levels: readonly string[] }} Levels of a scale, or of a channel over it */

/**
 * Words for ratings or, on the scale `there`, for marks. `noun`: one entry. `verb`: to make one.
 * `none`: an item without an entry. `yours`: all entries. `stays`: they are not sent. `apart`: not
 * used by the selection rule. `hidden`: what the noise hides. `guess`: the attacker's decision.
 * `even`: the attacker's prior.
 */
const RATE = {
  noun: "rating",
  verb: "Rate",
  did: "rated",
  none: "not rated",
  yours: "your ratings",
  stays: "Your ratings stay on this device.",
  apart: "does not use your ratings",
  hidden: "Your ratings",
  guess: "A guess between two ratings you may have given",
  even: "every rating",
};

/** @type {typeof RATE} */
const MARK = {
  noun: "mark",
  verb: "Mark",
  did: "marked",
  none: "not marked",
  yours: "your marks",
  stays: "Your marks stay on this device.",
  apart: "does not use your marks",
  hidden: "Your marks",
  guess: "A guess as to whether you marked an item",
  even: "“marked” and “not marked”",
};

const MOST_STARS = 11;

/** @param {Levels} scale */
export function vocabulary(scale) {
  return hasOneLevel(scale) ? MARK : RATE;
}

/** @param {number} many @param {string} noun */
export function count(many, noun) {
  return `${grouped(many)} ${noun}${many === 1 ? "" : "s"}`;
}

/** Format a level or "missing". @param {Levels} scale @param {string} value */
export function valueInWords(scale, value) {
  if (value === UNRATED) return vocabulary(scale).none;
  return hasOneLevel(scale) ? "marked" : value;
}

/**
 * Format a level, "missing" or an output within a sentence: in stars if the scale ends at 5.
 * @param {Levels} scale
 * @param {string} value
 */
export function starsInWords(scale, value) {
  const there = hasOneLevel(scale) && value === scale.levels[0];
  if (value === UNRATED || there) return `“${valueInWords(scale, value)}”`;
  const number = short(Number(value));
  if (scale.levels.at(-1) !== "5" || scale.levels.length > MOST_STARS) return number;
  return `${number} ${number === "1" ? "star" : "stars"}`;
}

/** Return the unit of the task's epsilon. @param {Pick<Task, "hidesPresence">} task */
export function unit({ hidesPresence }) {
  return hidesPresence ? "slot" : "value";
}

/**
 * Return the unit of the sum over a user's answers. If the rated items are public, the sum bounds
 * only what the ratings reveal, and is not an epsilon per user.
 * @param {Pick<Task, "hidesPresence">} task
 */
export function together({ hidesPresence }) {
  return hidesPresence ? "per user" : "for all your values together";
}
