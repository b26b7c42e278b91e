/** Texts of the consent form: a summary, then the full terms. Every epsilon has its unit. */

import { cellsOf } from "../../device/answering/due.js";
import { hasOneLevel } from "../../device/documents/scale.js";
import { duration, percent } from "../numbers.js";
import { count, starsInWords, together, unit, vocabulary } from "./nouns.js";

/** @typedef {import("../../device/documents/task.js").Task} Task */

/** Texts for the uncovered parts of a task, by name. @type {{ [part: string]: string }} */
const PARTS = {
  "the catalogue": "the catalogue",
  "the set of people": "the set of people",
  "the rating scale": "the rating scale",
};

export const OFFER = "Send noisy answers?";
export const CONTRACT = "Full terms";
export const LABEL = "Privacy label";
export const BESIDES = ", with the results of simulated attacks.";
export const EXACTLY = "The exact question";
export const LIMITS = "Change the limit";
export const FREE = "Answers cost nothing.";

/**
 * State what is sent, and what becomes public.
 * @param {Task} task
 * @param {number} due answers
 */
export function offerInWords({ scale, hidesPresence }, due) {
  const seen = hidesPresence
    ? "Your participation becomes public."
    : "The items you rated become public. Your ratings do not. Published models show which items " +
      "are rated together.";
  const answers = `This device adds random noise and sends ${count(due, "answer")}.`;
  return `${vocabulary(scale).stays} ${answers} ${seen}`;
}

/** Legend of the choices: an attacker's success rate. @param {Task} task */
export function guessInWords({ scale, hidesPresence }) {
  const none = hidesPresence && !hasOneLevel(scale) ? ", or between a rating and none," : "";
  return (
    `${vocabulary(scale).guess}${none} is right 50 % of the time without your answer. With it, ` +
    "at most:"
  );
}

/**
 * Return the names of the choices, the most noise first.
 * @param {number} many
 * @returns {readonly string[]}
 */
export function choicesInWords(many) {
  if (many > 3) return Array.from({ length: many }, (_, k) => `Noise ${many - k} of ${many}`);
  const [much, some, little] = ["Much noise", "Some noise", "Little noise"];
  return [[some], [much, little], [much, some, little]][many - 1] ?? [];
}

/** Format the probability of a correct guess, rounded up. @param {number} share */
export function sureInWords(share) {
  return `${Math.ceil(100 * share)} %`;
}

/**
 * Caption of the noise histogram.
 * @param {Task} task
 * @param {string} value
 * @param {number} share of draws that leave the value unchanged
 */
export function staysInWords({ scale }, value, share) {
  return `${starsInWords(scale, value)}: ${percent(share)} are sent unchanged`;
}

/** @param {number} due answers */
export function agreeInWords(due) {
  return `Agree and send ${count(due, "answer")}`;
}

/**
 * Return the full terms, as pairs of topic and text.
 * @param {Task} task
 * @param {string} host that asks
 * @returns {(readonly [string, string])[]}
 */
export function contractInWords(task, host) {
  return [
    ["Who asks", `${host}. ${changesInWords(task)}`],
    ["What", planInWords(task)],
    ["Public", publicInWords(task)],
    ...notCovered(task),
    ["Tied together", linkInWords(task)],
    ["Hidden", hiddenInWords(task)],
    ["Kept", keptInWords(task)],
  ];
}

/**
 * State what the provider can change after consent.
 * @param {Task} task
 */
function changesInWords({ hidesPresence, provider, ancestors }) {
  if (hidesPresence || provider === null) return "The question cannot change after you agree.";
  const added = ancestors.length - 1;
  const before = added === 0 ? "" : ` Items were added ${count(added, "time")} so far.`;
  return `After you agree, items can be added to the question. Nothing else can change.${before}`;
}

/** @param {Task} task */
function planInWords(task) {
  const { did, apart } = vocabulary(task.scale);
  if (!task.hidesPresence) return "One answer for each item you rate. None for other items.";
  const cells = cellsOf(task);
  const items = count(cells, "item");
  const which =
    cells === task.items.length
      ? `all ${items} of the catalogue`
      : `${items} of the catalogue, chosen by a public rule that ${apart}`;
  return `Every user sends one answer for each of ${which}, ${did} or not.`;
}

/**
 * State what becomes public at any epsilon.
 * @param {Task} task
 */
function publicInWords({ scale, hidesPresence, epochSeconds }) {
  const when = `when you answered (within ${duration(epochSeconds)})`;
  const changed = "whether an answer changed, and when";
  const { did } = vocabulary(scale);
  const how = hasOneLevel(scale) ? "" : ", or your ratings";
  return hidesPresence
    ? `That you take part, and ${when}; ${changed}; which items you ${did} between two reports. ` +
        `Not which items you had ${did} by your first answer${how}.`
    : `That you take part, which items you rated, and ${when}; ${changed}. Not your ratings.`;
}

/**
 * State the parts that were inferred from ratings, if any.
 * @param {Task} task
 * @returns {(readonly [string, string])[]}
 */
function notCovered({ uncovered }) {
  if (uncovered.length === 0) return [];
  const parts = uncovered.map((part) => PARTS[part] ?? part).join(", ");
  const inferred = `Inferred from ratings, not declared: ${parts}.`;
  return [["Not covered", `${inferred} No epsilon covers what this reveals of those ratings.`]];
}

/**
 * State what links the answers of one user, within one question and across two.
 * @param {Task} task
 */
function linkInWords({ hidesPresence }) {
  const others = hidesPresence
    ? "many answers about the same items can reveal that two pseudonyms belong to one person, " +
      "more often at a larger epsilon."
    : "the public list of items you rated can identify you almost as well as your name.";
  return (
    "All your answers to this question are sent under one random pseudonym. Another question has " +
    `another pseudonym, but ${others}`
  );
}

/** @param {Task} task */
function hiddenInWords(task) {
  const offered = [...new Set(task.channels.map(({ epsilon }) => epsilon))].join(", ");
  return (
    `${vocabulary(task.scale).hidden}, by random noise that this device adds. Choices: epsilon = ` +
    `${offered} per ${unit(task)}, each verified in integer arithmetic by this page.`
  );
}

/** @param {Task} task */
function keptInWords({ retentionDays, epochSeconds, provider }) {
  const erased =
    provider === null
      ? "Until then it cannot be erased from here."
      : "You can have it erased from here earlier.";
  return (
    `${count(retentionDays, "day")}, from the end of the period (${duration(epochSeconds)}) in ` +
    `which you answered. ${erased} Models keep what they learned from them.`
  );
}

/**
 * Explain epsilon for one answer.
 * @param {string} epsilon
 * @param {Task} task
 */
export function epsilonInWords(epsilon, task) {
  const times = Math.exp(Number(epsilon));
  const most = times < 10 ? times.toFixed(2) : String(Math.round(times));
  const there = "for a marked item than for an unmarked one, or the reverse";
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
 * State the number of answers within a lifetime limit. `first`: the size of a first report that
 * exceeds it, if it does.
 * @param {number} many answers
 * @param {number | null} first
 */
export function enoughInWords(many, first) {
  const enough = `Enough for ${count(many, "answer")}`;
  if (first !== null) return `${enough}; a first report takes ${first}.`;
  return `${enough}. It counts for all questions, and erasing does not reset it.`;
}
