/** Texts on sent answers, their cost, and the result. */

import { UNRATED } from "../../device/documents/channel.js";
import { hasOneLevel } from "../../device/documents/scale.js";
import { day, duration } from "../numbers.js";
import { count, starsInWords, together, unit, valueInWords, vocabulary } from "./nouns.js";

/** @typedef {import("../../device/documents/task.js").Task} Task */

export const SO_FAR = "So far";
export const LEFT = "Sent";
export const COST = "Cost";
export const COUNTS = "How this adds up";
export const CAME = "Result";
export const REFERENCE = "Reference code";
export const REFERENCE_FOR =
  "Quote this code to the provider to request a copy or the deletion of your answers. With the code " +
  "and the provider's database, anyone can find all your answers.";
export const UNSENT = "not sent yet";
export const WAITS = "waiting to be sent";
export const SENT = "sent";
export const UNASKED = "not in the question";
export const BUSY = "Answering …";
export const NOTHING_SENT = "Nothing was sent.";

/**
 * @param {number} due answers
 * @param {boolean} waits whether earlier reports are not stored yet
 */
export function sendInWords(due, waits) {
  if (due === 0) return "Send waiting answers";
  return `Send ${count(due, "answer")}${waits ? " and waiting ones" : ""}`;
}

/**
 * Status of a rating that changed after its answer was sent.
 * @param {Task} task
 * @param {string} value that the answer is for
 * @param {number | null} from when a new one may be sent, Unix seconds; null: now
 */
export function changedInWords(task, value, from) {
  const then = from === null ? "" : `, which you can from ${day(task, from)} on`;
  const stands = `your answer for ${starsInWords(task.scale, value)} remains`;
  return `Changed: ${stands} until you send this one${then}.`;
}

/**
 * Status of a rating that changed after its answer was sent, where no other answer follows.
 * @param {Task} task
 * @param {string} value that the answer is for
 */
export function standsInWords({ scale }, value) {
  return `Changed: your answer for ${starsInWords(scale, value)} remains.`;
}

/**
 * Status of a rating that was cleared after its answer was sent. No other answer follows.
 * @param {Task} task
 * @param {string} value that the answer is for
 * @param {number} end of its retention, Unix seconds
 */
export function clearedInWords(task, value, end) {
  const stands = `your answer for ${starsInWords(task.scale, value)} remains until ${day(task, end)}`;
  return `Cleared: ${stands}, unless you erase.`;
}

/**
 * State what was sent instead of the true value.
 * @param {Task} task
 * @param {string} output that the symbol stands for
 * @param {string} value that it answers for
 */
export function leftInWords({ scale }, output, value) {
  const sent = `Sent: ${starsInWords(scale, output)}`;
  if (output === value) return `${sent}, which happens to be true.`;
  const stars = output !== UNRATED && value !== UNRATED && !hasOneLevel(scale);
  return `${sent} instead of ${stars ? valueInWords(scale, value) : starsInWords(scale, value)}.`;
}

/**
 * State the epsilon spent on one item.
 * @param {Task} task
 * @param {string} spent nats
 * @param {number} answers
 */
export function costInWords(task, spent, answers) {
  const drawn = answers === 1 ? "" : `, for ${count(answers, "answer")}`;
  return `Cost: epsilon = ${spent} on this ${unit(task)}${drawn}.`;
}

/** @param {number} many */
export function restInWords(many) {
  return `Show more (${many} left)`;
}

/** @param {Task} task @param {number} others */
export function othersInWords({ items, scale }, others) {
  const many = `${count(others, "other item")} of ${items.length}`;
  return `Also sent: an answer for “${vocabulary(scale).none}” on ${many}.`;
}

/**
 * @param {Task} task
 * @param {number} left answers
 * @param {number} waiting of them
 * @param {number} last start of the epoch of the last one, Unix seconds
 */
export function answersInWords(task, left, waiting, last) {
  if (left === 0) return "Nothing yet.";
  const waits = waiting === 0 ? "" : `; ${waiting} of them waiting to be sent`;
  return `${count(left, "answer")}, the last since ${day(task, last)}${waits}`;
}

/** @param {Task} task @param {string} spent nats @param {string} limit nats */
export function spentInWords(task, spent, limit) {
  return `${spent} of ${limit} spent: epsilon ${together(task)}`;
}

/**
 * Explain the sum spent, the remaining budget, and the cost of an answer.
 * @param {Task} task
 * @param {string} cost nats
 * @param {string} left nats
 * @param {number | null} more number of answers that it covers; null: they are free
 */
export function budgetInWords(task, cost, left, more) {
  if (task.growth !== null) {
    const paid = "All answers to this question are paid for, those on items added later too";
    return `This is a lifetime total${hiding(task)}. ${paid}. ${left} is left.`;
  }
  const enough = more === null ? "" : `, enough for ${count(more, "new answer")}`;
  return (
    `This is a lifetime total${besides(task)}. ${left} is left${enough}. Each costs epsilon = ` +
    `${cost} per ${unit(task)} once: this device answers once for each ${vocabulary(task.scale).noun}.`
  );
}

/**
 * State the conditions under which the sum is a bound.
 * @param {Task} task
 */
function besides(task) {
  if (!task.hidesPresence) return ". The items you rated are public";
  return `${hiding(task)} and you change no ${vocabulary(task.scale).noun}`;
}

/** @param {Task} task that hides presence */
function hiding({ scale }) {
  const hidden = hasOneLevel(scale) ? "your marks" : "which items you rated";
  return `, if every question hides ${hidden}`;
}

/** @param {string | undefined} title of the first recommendation */
export function cameInWords(title) {
  if (title === undefined) return "No model yet.";
  return `A model trained on all users' answers. Its first recommendation for you is “${title}”.`;
}

/**
 * Summarize the outcome of a sync.
 * @param {Task} task
 * @param {import("../../device/client.js").SyncOutcome} outcome
 * @param {number} seconds until the next attempt, if one is to come
 */
export function outcomeInWords({ scale }, outcome, seconds) {
  const { stored, givenUp, late, waiting, again, refused, erasing } = outcome;
  const idle = stored === 0 && givenUp === 0 && waiting === 0 && erasing === 0;
  const noun = count(refused, vocabulary(scale).noun);
  /** @type {[boolean, string][]} */
  const said = [
    [erasing > 0, "The provider has not confirmed the erasure yet."],
    [stored > 0, `${count(stored, "report")} sent and stored.`],
    [idle, "Nothing new to answer in this period."],
    [refused > 0, `${noun} not answered: your lifetime limit allows no more.`],
    [late > 0, `${count(late, "report")} expired.`],
    [again === null && waiting > 0, `${count(waiting, "report")} kept on this device.`],
    [
      again !== null,
      "The collector is not accepting answers at the moment. The same reports will be sent " +
        `again in ${duration(seconds)}.`,
    ],
  ];
  return said.flatMap(([holds, sentence]) => (holds ? sentence : [])).join(" ");
}

/**
 * Summarize the erasure of a device.
 * @param {Task} task
 * @param {string} spent nats
 * @param {number} erased pseudonyms that the provider erased
 * @param {number} erasing pseudonyms whose erasure it has not confirmed
 */
export function erasedInWords(task, spent, erased, erasing) {
  const kept = `Erased. Only the epsilon you have spent is kept: ${spent} ${together(task)}.`;
  if (erased + erasing === 0) return kept;
  const asked =
    erasing === 0
      ? "The provider confirmed that it erased what you had sent."
      : "The provider has not confirmed yet that it erased what you had sent. " +
        "This page asks again whenever it is open.";
  return `${kept} ${asked}`;
}
