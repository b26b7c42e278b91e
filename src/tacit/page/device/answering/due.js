/** The answers due in an epoch under each plan: cells of the reports and their symbols. */

import { generations } from "../documents/catalogue.js";
import { countInBlocks, isGrowing } from "./blocks.js";
import { UNRATED } from "../documents/channel.js";
import { BudgetError } from "../errors.js";
import { affords, left, nats } from "./ledger.js";

/** @typedef {import("./answers.js").Answers} Answers */
/** @typedef {import("../store.js").Reported} Reported */
/** @typedef {import("../documents/task.js").Task} Task */
/** @typedef {{ readonly place: number, readonly value: string, readonly symbol: number }} Cell */

/**
 * The device's state for this task, by catalogue index: true levels and last reported values.
 * @typedef {{ readonly levels: ReadonlyMap<number, string>,
 *   readonly last: ReadonlyMap<number, Reported> }} History
 */

/** The first index of each report made in this epoch. @typedef {ReadonlySet<number>} Made */

/**
 * @param {Pick<import("../store.js").Rows, "ratings" | "reported">} rows
 * @param {string} task
 * @returns {History}
 */
export function historyOf({ ratings, reported }, task) {
  const mine = ratings.filter((rating) => rating.task === task);
  const earlier = reported.filter((one) => one.task === task).sort((a, b) => a.epoch - b.epoch);
  return {
    levels: new Map(mine.map(({ place, level }) => [place, level])),
    last: new Map(earlier.map((one) => [one.place, one])),
  };
}

/**
 * Return the number of answers due. `sync` produces this many if the lifetime limit allows it. For a
 * task that is answered block by block, it is an average before the device has a secret.
 * @param {Task} task
 * @param {Pick<import("../store.js").Rows, "owner" | "ratings" | "reported" | "made" | "blocks">} rows
 * @param {number} epoch
 * @returns {Promise<number>}
 */
export async function countDue(task, rows, epoch) {
  if (epoch < 0) return 0;
  if (isGrowing(task)) return countInBlocks(task, rows, epoch);
  const made = madeIn(rows, task, epoch);
  if (task.hidesPresence) return made.size > 0 ? 0 : cellsOf(task);
  return changed(historyOf(rows, task.question), made).length;
}

/**
 * Return the number of answers that a device pays for before its first report, where the plan hides
 * presence.
 * @param {Pick<Task, "slots" | "items" | "growth">} task
 */
export function cellsOf({ slots, items, growth }) {
  if (growth !== null) return growth.limit * generations(growth);
  return Math.min(slots ?? items.length, items.length);
}

/**
 * @param {Pick<import("../store.js").Rows, "made">} rows
 * @param {Pick<Task, "question">} task
 * @param {number} epoch
 * @returns {Made}
 */
export function madeIn({ made }, { question }, epoch) {
  const now = made.filter((one) => one.task === question && one.epoch === epoch);
  return new Set(now.map(({ place }) => place));
}

/**
 * Return indices and levels that differ from the last report and may be reported in this epoch.
 * @param {History} past
 * @param {Made} made
 */
function changed({ levels, last }, made) {
  return [...levels].filter(
    ([place, value]) => last.get(place)?.value !== value && !made.has(place),
  );
}

/**
 * Plan "rated": one report per rating that differs from the last reported one, through any channel,
 * at most one per item and epoch.
 *
 * If the limit does not allow another draw, the remaining ratings are refused and `answers` has the
 * reasons. Items are processed in index order.
 * @param {History} past
 * @param {Answers} answers
 * @param {Made} made
 * @returns {(readonly Cell[])[]}
 */
export function dueRated({ levels, last }, answers, made) {
  const cells = changed({ levels, last }, made)
    .sort(([a], [b]) => a - b)
    .map(([place, value]) => ({ place, value, symbol: answers.give(place, value) }));
  const given = cells.flatMap(({ symbol, ...cell }) =>
    symbol === undefined ? [] : [{ ...cell, symbol }],
  );
  return given.map((cell) => [cell]);
}

/**
 * Plans that hide presence: one report per epoch over `places`, whatever was rated.
 *
 * The first report through a channel is all or nothing: throws `BudgetError` if the limit does not
 * cover all of it. In later reports a cell that the limit does not cover repeats its last answer
 * through that channel. Whether a report is sent, and its shape, therefore never depend on the
 * ratings.
 * @param {History} past `last`: reported through the channel
 * @param {Answers} answers
 * @param {Made} made
 * @param {readonly number[]} places
 * @returns {(readonly Cell[])[]}
 */
export function dueSlots({ levels, last }, answers, made, places) {
  if (made.size > 0) return [];
  const cells = places.map((place) => ({ place, value: levels.get(place) ?? UNRATED }));
  if (last.size === 0) affordAll(cells.length, answers);
  const report = cells.map(({ place, value }) => {
    const symbol = answers.give(place, value);
    return symbol === undefined ? repeated(place, answers, last) : { place, value, symbol };
  });
  return [report];
}

/**
 * Check the budget of a first report. Nothing was drawn through its channel before, so that it
 * costs the same for every user.
 * @param {number} cells
 * @param {Answers} answers
 */
function affordAll(cells, answers) {
  const cost = BigInt(cells) * answers.cost;
  if (affords(answers.ledger, cost)) return;
  throw new BudgetError(
    `The first report of all ${cells} slots costs epsilon = ${nats(cost)}, but ` +
      `${nats(left(answers.ledger))} of your lifetime budget is left, so no report is drawn.`,
  );
}

/**
 * @param {number} place
 * @param {Answers} answers
 * @param {ReadonlyMap<number, Reported>} last
 * @returns {Cell}
 */
function repeated(place, answers, last) {
  const value = last.get(place)?.value ?? UNRATED;
  const symbol = answers.give(place, value);
  if (symbol === undefined) {
    throw new BudgetError("A slot was never reported, so no report is drawn.");
  }
  return { place, value, symbol };
}

/**
 * Return the entries of lost reports that are due again, at no further cost.
 *
 * Only single-item reports: a report over slots is repeated anyway, and the symbols that its cells
 * repeat must not depend on the outcome of an upload.
 * @param {readonly Reported[]} reported
 * @param {readonly import("../store.js").Outgoing[]} lost
 */
export function dueAgain(reported, lost) {
  const names = new Set(lost.filter(({ single }) => single).map(nameOf));
  return reported.filter((last) => names.has(nameOf(last)));
}

/** @param {{ readonly task: string, readonly epoch: number, readonly place: number }} row */
function nameOf({ task, epoch, place }) {
  return `${task} ${epoch} ${place}`;
}
