/** Status of each rating: not sent yet, waiting, sent, or changed since. */

import { madeIn, historyOf } from "../device/answering/due.js";
import { entriesOf } from "../device/answering/entries.js";
import { UNRATED } from "../device/documents/channel.js";
import { begins } from "../device/documents/task.js";
import * as words from "./words/sent.js";

/** @typedef {import("../device/documents/task.js").Task} Task */
/** @typedef {import("../device/store.js").Reported} Reported */
/** @typedef {{ readonly kind: "unsent" | "waits" | "sent" | "changed", readonly text: string }} Fate */

const DAY = 86_400;

/**
 * Return the status of every item with a current rating or a past answer, by catalogue index.
 * @param {Task} task
 * @param {import("../device/store.js").Rows} rows
 * @param {number} epoch now
 * @returns {Map<number, Fate>}
 */
export function fatesOf(task, rows, epoch) {
  const answered = [...historyOf(rows, task.question).last.keys()];
  const made = madeIn(rows, task, epoch);
  return new Map(
    entriesOf(task, rows).map(({ place, level, last, waits }) => {
      const value = level ?? (task.hidesPresence ? UNRATED : undefined);
      const closed = task.hidesPresence ? made.size > 0 : made.has(place);
      if (last === undefined) return [place, unsent(isUnasked(task, place, answered))];
      if (value === last.value) return [place, waits ? WAITS : SENT];
      if (task.growth !== null) return [place, stands(task, task.growth, last, epoch)];
      return [place, changed(task, last, value, closed ? begins(task, epoch + 1) : null)];
    }),
  );
}

/** @type {Fate} */
const SENT = { kind: "sent", text: words.SENT };
/** @type {Fate} */
const WAITS = { kind: "waits", text: words.WAITS };

/**
 * Return whether the report that would have had an answer for this item was made without one.
 * @param {Task} task
 * @param {number} place
 * @param {readonly number[]} answered indices
 */
function isUnasked({ hidesPresence, growth }, place, answered) {
  const block = growth?.blocks.find(({ end }) => place < end);
  const [first, end] = block === undefined ? [0, Infinity] : [block.first, block.end];
  return hidesPresence && answered.some((one) => one >= first && one < end);
}

/**
 * Status of a changed rating where the task is answered block by block: the next answer is drawn
 * after a renewal, if one is to come.
 * @param {Task} task
 * @param {import("../device/documents/catalogue.js").Growth} growth
 * @param {Reported} last
 * @param {number} epoch now
 * @returns {Fate}
 */
function stands(task, { renewals }, last, epoch) {
  const next = renewals.find((each) => each > last.epoch);
  if (next === undefined) return { kind: "changed", text: words.standsInWords(task, last.value) };
  const from = next <= epoch ? null : begins(task, next);
  return { kind: "changed", text: words.changedInWords(task, last.value, from) };
}

/**
 * @param {boolean} unasked
 * @returns {Fate}
 */
function unsent(unasked) {
  return { kind: "unsent", text: unasked ? words.UNASKED : words.UNSENT };
}

/**
 * @param {Task} task
 * @param {Reported} last
 * @param {string | undefined} value now
 * @param {number | null} from when another answer may be sent, Unix seconds; null: now
 * @returns {Fate}
 */
function changed(task, last, value, from) {
  const end = begins(task, last.epoch + 1) + task.retentionDays * DAY;
  const text =
    value === undefined
      ? words.clearedInWords(task, last.value, end)
      : words.changedInWords(task, last.value, from);
  return { kind: "changed", text };
}
