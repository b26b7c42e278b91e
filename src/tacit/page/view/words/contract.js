/** What a person is asked, in plain words first and then in full; no epsilon without its unit. */

import { cellsOf } from "../../device/answering/due.js";
import { hasOneLevel } from "../../device/documents/scale.js";
import { duration, percent } from "../numbers.js";
import { count, starsInWords, together, unit, vocabulary } from "./nouns.js";

/** @typedef {import("../../device/documents/task.js").Task} Task */

/** Parts of a task by the name that it lists them under. @type {{ [part: string]: string }} */
const PARTS = {
  "the catalogue": "the catalogue",
  "the set of people": "the set of people",
  "the rating scale": "the rating scale",
};

export const OFFER = "Answer, with noise?";
export const CONTRACT = "The whole contract";
export const LABEL = "What this promises, on one page";
export const BESIDES = ", and what somebody who attacks made-up people finds.";
export const EXACTLY = "The exact question";
export const LIMITS = "More: your lifetime limit";
export const FREE = "Answers cost nothing.";

/**
 * What leaves, and what is seen of it.
 * @param {Task} task
 * @param {number} due answers
 */
export function offerInWords({ scale, hidesPresence }, due) {
  const seen = hidesPresence
    ? "That you take part becomes public."
    : "Which things you rated becomes public; how you rated them does not.";
  const answers = `What leaves is ${count(due, "answer")}, with noise: this device throws dice first.`;
  return `${vocabulary(scale).stays} ${answers} ${seen}`;
}

/** What the choices below it are about. @param {Task} task */
export function guessInWords({ scale, hidesPresence }) {
  const none = hidesPresence && !hasOneLevel(scale) ? ", or a rating and none," : "";
  return (
    `${vocabulary(scale).guess}${none} is right 50 % of the time by a coin. With the answer in ` +
    "hand it is right, at most:"
  );
}

/**
 * Names of so many choices, the most noise first.
 * @param {number} many
 * @returns {readonly string[]}
 */
export function choicesInWords(many) {
  if (many > 3) return Array.from({ length: many }, (_, k) => `Noise ${many - k} of ${many}`);
  const [much, some, little] = ["Much noise", "Some noise", "Little noise"];
  return [[some], [much, little], [much, some, little]][many - 1] ?? [];
}

/** How often a guess is right, rounded up. @param {number} share */
export function sureInWords(share) {
  return `${Math.ceil(100 * share)} %`;
}

/**
 * What the picture of the noise shows.
 * @param {Task} task
 * @param {string} value
 * @param {number} share of draws that leave it as it is
 */
export function staysInWords({ scale }, value, share) {
  return `${starsInWords(scale, value)}: ${percent(share)} leave as they are`;
}

/** @param {number} due answers */
export function agreeInWords(due) {
  return `Agree and send ${count(due, "answer")}`;
}

/**
 * The contract, by what each part of it is about.
 * @param {Task} task
 * @param {string} host that asks
 * @returns {(readonly [string, string])[]}
 */
export function contractInWords(task, host) {
  return [
    ["Who asks", `${host}, once and for all: what is asked cannot change under you.`],
    ["What", planInWords(task)],
    ["Public", publicInWords(task)],
    ...notCovered(task),
    ["Tied together", linkInWords(task)],
    ["Hidden", hiddenInWords(task)],
    ["Kept", keptInWords(task)],
  ];
}

/** @param {Task} task */
function planInWords(task) {
  const { did, apart } = vocabulary(task.scale);
  if (!task.hidesPresence) return "One answer for each thing you rate, and none for the others.";
  const cells = cellsOf(task);
  const things = count(cells, "thing");
  const which =
    cells === task.items.length
      ? `all ${things} of the catalogue`
      : `${things} of the catalogue, picked by a public rule that ${apart}`;
  const said = hasOneLevel(task.scale) ? "there" : did;
  return `The same answers from everybody: one for each of ${which}, ${said} or not.`;
}

/**
 * What everybody may learn for certain, whatever epsilon is.
 * @param {Task} task
 */
function publicInWords({ scale, hidesPresence, epochSeconds }) {
  const when = `and, to within ${duration(epochSeconds)}, when you answered`;
  const changed = "that an answer changed, and when";
  const { did } = vocabulary(scale);
  const how = hasOneLevel(scale) ? "" : ", and not how you rate";
  return hidesPresence
    ? `That you take part, ${when}; ${changed}; which things you ${did} between two reports. ` +
        `Not what you had ${did} by your first answer${how}.`
    : `That you take part, which things you rated, ${when}; ${changed}. Not how you rated them.`;
}

/**
 * What was taken from ratings, where anything was.
 * @param {Task} task
 * @returns {(readonly [string, string])[]}
 */
function notCovered({ uncovered }) {
  if (uncovered.length === 0) return [];
  const parts = uncovered.map((part) => PARTS[part] ?? part).join(", ");
  const taken = `Taken from ratings and not declared: ${parts}.`;
  return [["Not covered", `${taken} No epsilon covers what this shows of those ratings.`]];
}

/**
 * What links answers to one question, and to two although they carry two names.
 * @param {Task} task
 */
function linkInWords({ hidesPresence }) {
  const others = hidesPresence
    ? "many answers about the same things can tell that two names are one person's: the larger " +
      "epsilon is, the more surely."
    : "the list of things you rated, which is public, is nearly as good as a name.";
  return (
    "Your answers to this question, by the one made-up name that they carry. It is not your name " +
    `in other questions, but ${others}`
  );
}

/** @param {Task} task */
function hiddenInWords(task) {
  const offered = [...new Set(task.channels.map(({ epsilon }) => epsilon))].join(", ");
  return (
    `${vocabulary(task.scale).hidden}, behind noise drawn on this device. On offer: epsilon = ` +
    `${offered} per ${unit(task)}, each proved in whole numbers by this page just now.`
  );
}

/** @param {Task} task */
function keptInWords({ retentionDays, epochSeconds, provider }) {
  const erased =
    provider === null
      ? "Until then it cannot be erased from here."
      : "You can have it erased earlier, here.";
  return (
    `${count(retentionDays, "day")}, from the end of the period (${duration(epochSeconds)}) in ` +
    `which you answered. ${erased} What models have learnt cannot be called back.`
  );
}

/**
 * What epsilon means for one answer.
 * @param {string} epsilon
 * @param {Task} task
 */
export function epsilonInWords(epsilon, task) {
  const times = Math.exp(Number(epsilon));
  const most = times < 10 ? times.toFixed(2) : String(Math.round(times));
  const there = "for a thing that is there than for one that is not, or the other way round";
  const hidden = hasOneLevel(task.scale) ? there : "for one rating, or none, than for another";
  const either = task.hidesPresence ? hidden : "for one rating than for another";
  return (
    `Epsilon = ${epsilon} per ${unit(task)}: no answer is more than ${most} times likelier ` +
    `${either}.`
  );
}

/** @param {Task} task */
export function limitInWords(task) {
  return `Your lifetime limit: epsilon ${together(task)}, in all questions`;
}

/**
 * How far a lifetime limit goes. `first`: answers of a first report that it does not allow, if any.
 * @param {number} many answers
 * @param {number | null} first
 */
export function enoughInWords(many, first) {
  const enough = `Enough for ${count(many, "answer")}`;
  if (first !== null) return `${enough}; a first report takes ${first}.`;
  return `${enough}. It counts for all questions, and erasing does not reset it.`;
}
