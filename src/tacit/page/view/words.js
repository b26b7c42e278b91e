/** Numbers and plans in plain words; no epsilon is said without its unit. */

import { hasOneLevel } from "../device/documents/scale.js";
import { vocabulary } from "./vocabulary.js";

/** @typedef {import("../device/documents/task.js").Task} Task */

/**
 * The unit of the task's epsilon.
 * @param {Task} task
 * @returns {"value" | "slot"}
 */
export function unit(task) {
  return task.hidesPresence ? "slot" : "value";
}

/**
 * What a sum over a person's answers is an epsilon for. Where it is public who rated what, the sum
 * bounds only how they rated, and is no epsilon per user.
 * @param {Task} task
 * @returns {"per user" | "for all your values together"}
 */
export function together(task) {
  return task.hidesPresence ? "per user" : "for all your values together";
}

/**
 * What the plan asks of the person, in one sentence.
 * @param {Task} task
 * @returns {string}
 */
export function planInWords(task) {
  const { plan, slots, items } = task;
  const { did, yours } = vocabulary(task);
  if (plan === "rated") return "One answer for each thing you rate, and none for the others.";
  const many = Math.min(slots ?? items.length, items.length);
  const which =
    many === items.length
      ? `all ${count(many, "thing")} of the catalogue`
      : `${count(many, "thing")} of the catalogue, picked by a public rule ` +
        `that ${yours} no part in`;
  return `The same answers from everybody: one for each of ${which}, ${hasOneLevel(task.scale) ? "there" : did} or not.`;
}

/**
 * What everybody may learn for certain, whatever epsilon is.
 * @param {Task} task
 * @returns {string}
 */
export function publicInWords(task) {
  const when = `and, to within ${duration(task.epochSeconds)}, when you answered`;
  const { did } = vocabulary(task);
  const how = hasOneLevel(task.scale) ? "" : ", and not how you rate";
  return task.hidesPresence
    ? `That you take part, ${when}; later, at which things an answer changed, because you ${did} ` +
        `them meanwhile. Not what you had ${did} by your first answer${how}.`
    : `That you take part, which things you rated, ${when}. Not how you rated them.`;
}

/**
 * What links answers to two questions although they carry two names, in half a sentence.
 * @param {Task} task
 * @returns {string}
 */
export function linkInWords({ hidesPresence }) {
  return hidesPresence
    ? "many answers about the same things can tell that two names are one person's: the larger " +
        "epsilon is, the more surely."
    : "the list of things you rated, which is public, is nearly as good as a name.";
}

/**
 * Whether what is sent can be erased.
 * @param {Task} task
 * @returns {string}
 */
export function eraseInWords({ provider }) {
  return provider === null
    ? "Until then it cannot be erased from here."
    : "You can have it erased earlier, here.";
}

/**
 * What became of answers that the provider was asked to erase.
 * @param {number} erased names
 * @param {number} erasing names that it has not said to be erased
 * @returns {string[]}
 */
export function erasedInWords(erased, erasing) {
  if (erased + erasing === 0) return [];
  return erasing === 0
    ? ["The provider says that it has erased what you had sent."]
    : [
        "The provider was asked to erase what you had sent, and has not said yet that it did: " +
          "this page goes on asking whenever it is open.",
      ];
}

/**
 * What epsilon means for one answer.
 * @param {string} epsilon
 * @param {Task} task
 * @returns {string}
 */
export function epsilonInWords(epsilon, task) {
  const times = Math.exp(Number(epsilon));
  const most = times < 10 ? times.toFixed(2) : Math.round(times).toLocaleString("en");
  return (
    `Epsilon = ${epsilon} per ${unit(task)}: no answer is more than ${most} times likelier ` +
    `${task.hidesPresence ? vocabulary(task).either : "for one rating than for another"}.`
  );
}

/**
 * @param {number} many
 * @param {string} noun
 * @returns {string}
 */
export function count(many, noun) {
  return `${many.toLocaleString("en")} ${noun}${many === 1 ? "" : "s"}`;
}

/**
 * A duration in the largest unit that it fills.
 * @param {number} seconds
 * @returns {string}
 */
export function duration(seconds) {
  const units = /** @type {const} */ ([
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
  ]);
  const [noun, size] = units.find(([, length]) => seconds >= length) ?? ["second", 1];
  return count(Math.round(seconds / size), noun);
}

/**
 * A number of an output or a prediction, with at most two digits after the point.
 * @param {number} value
 * @returns {string}
 */
export function short(value) {
  return String(Math.round(100 * value) / 100);
}

/**
 * The title of a place, or its id where the task gives no titles.
 * @param {Task} task
 * @param {number} place
 * @returns {string}
 */
export function titleOf(task, place) {
  return task.titles?.[place] || String(task.items[place]);
}
