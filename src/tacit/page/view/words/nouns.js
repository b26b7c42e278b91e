/** Words that the others are made of: what a person says of an item, in the number that it needs. */

import { UNRATED } from "../../device/documents/channel.js";
import { hasOneLevel } from "../../device/documents/scale.js";
import { grouped, short } from "../numbers.js";

/** @typedef {import("../../device/documents/task.js").Task} Task */
/** @typedef {{ readonly levels: readonly string[] }} Levels of a scale, or of a channel over it */

/**
 * A person rates an item or, on the scale there, marks it. `noun`: one entry; `verb`: to make one;
 * `none`: an item without an entry; `yours`: all entries; `stays`: that they are not sent; `apart`:
 * that something does not use them; `hidden`: what the noise hides; `guess`: what an attacker
 * decides; `even`: the attacker's prior.
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
  guess: "A guess between two possible ratings of yours",
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
  guess: "A guess whether you marked an item",
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

/** A level, or none. @param {Levels} scale @param {string} value */
export function valueInWords(scale, value) {
  if (value === UNRATED) return vocabulary(scale).none;
  return hasOneLevel(scale) ? "marked" : value;
}

/**
 * The same within a sentence, or another number that an answer stands for: in stars, where it is
 * five of them at most.
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

/** The unit of the task's epsilon. @param {Pick<Task, "hidesPresence">} task */
export function unit({ hidesPresence }) {
  return hidesPresence ? "slot" : "value";
}

/**
 * What a sum over a person's answers is an epsilon for. Where it is public who rated what, the sum
 * bounds only how they rated, and is no epsilon per user.
 * @param {Pick<Task, "hidesPresence">} task
 */
export function together({ hidesPresence }) {
  return hidesPresence ? "per user" : "for all your values together";
}
