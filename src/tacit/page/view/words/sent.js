/** What became of what a person said: what left, what it cost, what stands, what came of it. */

import { UNRATED } from "../../device/documents/channel.js";
import { hasOneLevel } from "../../device/documents/scale.js";
import { day, duration } from "../numbers.js";
import { count, starsInWords, together, unit, valueInWords, vocabulary } from "./nouns.js";

/** @typedef {import("../../device/documents/task.js").Task} Task */

export const SO_FAR = "So far";
export const LEFT = "Left";
export const COST = "Cost";
export const COUNTS = "What this counts";
export const CAME = "Came of it";
export const UNSENT = "not sent yet";
export const WAITS = "waits to be sent";
export const SENT = "sent";
export const UNASKED = "not asked about";
export const BUSY = "Answering …";
export const NOTHING_SENT = "Nothing was sent.";

/**
 * @param {number} due answers
 * @param {boolean} waits whether something made earlier was not taken yet
 */
export function sendInWords(due, waits) {
  if (due === 0) return "Send what waits";
  return `Send ${count(due, "answer")}${waits ? " and what waits" : ""}`;
}

/**
 * A change after an answer left.
 * @param {Task} task
 * @param {string} value that the answer is for
 * @param {number | null} from when a new one may be sent, Unix seconds; null: now
 */
export function changedInWords(task, value, from) {
  const then = from === null ? "" : `, which you can from ${day(task, from)} on`;
  const stands = `your answer for ${starsInWords(task.scale, value)} stands`;
  return `Changed: ${stands} until you send this one${then}.`;
}

/**
 * A rating that was taken back after its answer left: no other follows.
 * @param {Task} task
 * @param {string} value that the answer is for
 * @param {number} end of it at the provider, Unix seconds
 */
export function clearedInWords(task, value, end) {
  const stands = `your answer for ${starsInWords(task.scale, value)} stands until ${day(task, end)}`;
  return `Cleared: ${stands}, unless you erase.`;
}

/**
 * What left, beside what was true.
 * @param {Task} task
 * @param {string} output that the symbol stands for
 * @param {string} value that it answers for
 */
export function leftInWords({ scale }, output, value) {
  const left = `${starsInWords(scale, output)} left`;
  if (output === value) return `${left}, which is true: by chance.`;
  const stars = output !== UNRATED && value !== UNRATED && !hasOneLevel(scale);
  return `${left} instead of ${stars ? valueInWords(scale, value) : starsInWords(scale, value)}.`;
}

/**
 * What was spent on one item.
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
  const places = `${count(others, "other place")} of ${items.length}`;
  return `${places} left too, as an answer for “${vocabulary(scale).none}”.`;
}

/**
 * @param {Task} task
 * @param {number} left answers
 * @param {number} waiting of them
 * @param {number} last when the period of the last one began, Unix seconds
 */
export function answersInWords(task, left, waiting, last) {
  if (left === 0) return "Nothing yet.";
  const waits = waiting === 0 ? "" : `; ${waiting} of them wait to be sent`;
  return `${count(left, "answer")}, the last since ${day(task, last)}${waits}`;
}

/** @param {Task} task @param {string} spent nats @param {string} limit nats */
export function spentInWords(task, spent, limit) {
  return `${spent} of ${limit} spent: epsilon ${together(task)}`;
}

/**
 * What the sum spent counts, what is left, and what an answer costs.
 * @param {Task} task
 * @param {string} cost nats
 * @param {string} left nats
 * @param {number | null} more answers that it is enough for; null: they are free
 */
export function budgetInWords(task, cost, left, more) {
  const enough = more === null ? "" : `, enough for ${count(more, "new answer")}`;
  return (
    `It counts over your whole life${besides(task)}. ${left} is left${enough}. Each costs epsilon = ` +
    `${cost} per ${unit(task)}, once: the same ${vocabulary(task.scale).noun} is never answered for twice.`
  );
}

/**
 * What the sum does not bound.
 * @param {Task} task
 */
function besides({ hidesPresence, scale }) {
  if (hidesPresence && hasOneLevel(scale))
    return ", as long as every question hides what you do, and you change no mark";
  return hidesPresence
    ? ", as long as every question hides what you rate, and you rate nothing anew"
    : "; which things you rated is public";
}

/** @param {string | undefined} title of what is recommended first */
export function cameInWords(title) {
  if (title === undefined) return "No model yet.";
  return `A model of everybody's answers, which picks “${title}” first for you.`;
}

/**
 * What became of reports in a sync.
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
    [erasing > 0, "The provider has not said yet that it erased what it was asked to erase."],
    [stored > 0, `${count(stored, "report")} sent and stored.`],
    [idle, "Nothing new to answer in this period."],
    [refused > 0, `${noun} not answered: your lifetime limit allows no more.`],
    [late > 0, `${count(late, "report")} became too old to be taken.`],
    [again === null && waiting > 0, `${count(waiting, "report")} kept on this device.`],
    [
      again !== null,
      "The collector does not take answers just now; the next attempt, with the same bytes, " +
        `is in ${duration(seconds)}.`,
    ],
  ];
  return said.flatMap(([holds, sentence]) => (holds ? sentence : [])).join(" ");
}

/**
 * What is left of a device that was erased.
 * @param {Task} task
 * @param {string} spent nats
 * @param {number} erased names that the provider erased
 * @param {number} erasing names that it has not said to be erased
 */
export function erasedInWords(task, spent, erased, erasing) {
  const kept = `Erased. Only the epsilon you have spent is kept: ${spent} ${together(task)}.`;
  if (erased + erasing === 0) return kept;
  const asked =
    erasing === 0
      ? "The provider says that it has erased what you had sent."
      : "The provider was asked to erase what you had sent, and has not said yet that it did: " +
        "this page goes on asking whenever it is open.";
  return `${kept} ${asked}`;
}
