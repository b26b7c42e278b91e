/** Texts of the consent form: a summary, then the full terms. Every epsilon has its unit. */

import { isGrowing } from "../../device/answering/blocks.js";
import { cellsOf } from "../../device/answering/due.js";
import { begins } from "../../device/documents/task.js";
import { hasOneLevel } from "../../device/documents/scale.js";
import { day, duration, grouped, percent } from "../numbers.js";
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
export const SET_LIMIT = "Your limit";
export const DECLINE = "Not now";
export const MISSING = "Choose how much noise, and your lifetime limit, before you agree.";
export const FREE = "Answers cost nothing.";

/**
 * State what is sent, and what becomes public.
 * @param {Task} task
 * @param {number} due answers
 */
export function offerInWords(task, due) {
  const { scale, hidesPresence, growth } = task;
  const seen = hidesPresence
    ? "Your participation becomes public."
    : "The items you rated become public. Your ratings do not. Published models show which items " +
      "are rated together.";
  const most = grouped(cellsOf(task));
  const later = growth === null ? "" : `, later others on added items, and at most ${most} in all`;
  const answers = `This device adds random noise and sends ${dueInWords(task, due)}${later}.`;
  return `${vocabulary(scale).stays} ${answers} ${seen}`;
}

/**
 * Format the number of answers due. Of a task that is answered block by block, it is an average until
 * the user agrees.
 * @param {Task} task
 * @param {number} due answers
 */
function dueInWords({ growth, slots }, due) {
  return `${growth === null || slots === null ? "" : "about "}${count(due, "answer")}`;
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

/** @param {Task} task @param {number} due answers */
export function agreeInWords(task, due) {
  return `Agree and send ${dueInWords(task, due)}`;
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
function changesInWords({ hidesPresence, growth, provider, chain, providerKey, origins }) {
  const moved = providerKey === null ? "" : ` ${movesInWords(origins)}`;
  if ((hidesPresence && growth === null) || provider === null)
    return `The question cannot change after you agree.${moved}`;
  const added = chain.length - 1;
  const before = added === 0 ? "" : ` Items were added ${count(added, "time")} so far.`;
  const extended = "After you agree, items can be added to the question. Nothing else can change.";
  return `${extended}${before}${moved}`;
}

/** @param {import("../../device/documents/task.js").Task["origins"]} origins */
function movesInWords([first, ...moves]) {
  const agree = "Nothing is sent to another address before you agree.";
  if (moves.length === 0) return `The provider can move. ${agree}`;
  return `The provider moved here from ${first} and can move again. ${agree}`;
}

/** @param {Task} task */
function planInWords(task) {
  const { did, apart } = vocabulary(task.scale);
  if (!task.hidesPresence) return "One answer for each item you rate. None for other items.";
  if (isGrowing(task)) return growthInWords(task);
  const cells = cellsOf(task);
  const items = count(cells, "item");
  const which =
    cells === task.items.length
      ? `all ${items} of the catalogue`
      : `${items} of the catalogue, chosen by a public rule that ${apart}`;
  return `Every user sends one answer for each of ${which}, ${did} or not.`;
}

/**
 * State what is answered of a task that is answered block by block: which items, when, and how many.
 * @param {import("../../device/answering/blocks.js").GrowingTask} task
 */
function growthInWords(task) {
  const { did, apart } = vocabulary(task.scale);
  const { limit, renewals } = task.growth;
  const which =
    task.slots === null
      ? `each item, ${did} or not.`
      : `each of a share of the items, ${did} or not. A secret rule of this device selects them and ` +
        `${apart}.`;
  const [first] = renewals;
  const anew =
    first === undefined
      ? ""
      : ` All of these items are answered once more on ${count(renewals.length, "later date")}, the ` +
        `first on ${day(task, begins(task, first))}.`;
  return (
    `One answer for ${which} Items that are added later are treated alike: each is answered once, ` +
    `for what you ${did} by then, and the answer never changes.${anew} This device answers for at ` +
    `most ${count(limit, "item")}, then it stops. You pay for ${count(cellsOf(task), "answer")} ` +
    "before the first one, and for none later."
  );
}

/**
 * State what becomes public at any epsilon.
 * @param {Task} task
 */
function publicInWords({ scale, hidesPresence, epochSeconds, growth }) {
  const when = `when you answered (within ${duration(epochSeconds)})`;
  const changed = "whether an answer changed, and when";
  const { did } = vocabulary(scale);
  const how = hasOneLevel(scale) ? "" : ", or your ratings";
  if (growth !== null) return `That you take part, and ${when}. Not which items you ${did}${how}.`;
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
 * exceeds it, if it does. Of a task that is answered block by block, all reports are paid for together.
 * @param {Task} task
 * @param {number} many answers
 * @param {number | null} first
 */
export function enoughInWords({ growth }, many, first) {
  const enough = `Enough for ${count(many, "answer")}`;
  if (first !== null && growth !== null) return `${enough}; this question takes ${first}.`;
  if (first !== null) return `${enough}; a first report takes ${first}.`;
  return `${enough}. It counts for all questions, and erasing does not reset it.`;
}
