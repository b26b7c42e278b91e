/** Words that the others are made of: what a person says of an item, in the number that it needs. */

import { UNRATED } from "../../device/documents/channel.js";
import { hasOneLevel } from "../../device/documents/scale.js";
import { grouped, short } from "../numbers.js";

/** @typedef {import("../../device/documents/task.js").Task} Task */
/** @typedef {{ readonly levels: readonly string[] }} Levels of a scale, or of a channel over it */

/**
 * A person rates an item or, on the scale there, marks it. `noun`: one thing that is said; `none`:
 * that nothing is said of an item; `yours`: all that was said; `stays`: that it does not leave;
 * `apart`: that it has no part in something; `hidden`: what the noise hides; `guess`: what an answer
 * helps to; `even`: what somebody thought before it.
 */
const RATE = {
  noun: "rating",
  did: "rated",
  none: "not rated",
  yours: "your ratings",
  stays: "Your ratings stay here.",
  apart: "your ratings have no part in",
  hidden: "How you rated",
  guess: "A guess between two ratings of yours",
  even: "every rating",
};

/** @type {typeof RATE} */
const MARK = {
  noun: "mark",
  did: "marked",
  none: "not there",
  yours: "what you did",
  stays: "What you did stays here.",
  apart: "what you did has no part in",
  hidden: "What you did",
  guess: "A guess whether a thing is there",
  even: "“there” and “not there”",
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
  return hasOneLevel(scale) ? "there" : value;
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
