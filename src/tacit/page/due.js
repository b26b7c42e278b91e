/** What is due in an epoch, under each plan: the cells of the reports, and their symbols. */

import { MISSING } from "./channel.js";
import { BudgetError } from "./errors.js";
import { left, nats } from "./ledger.js";

/** @typedef {import("./answers.js").Answers} Answers */
/** @typedef {import("./store.js").Reported} Reported */
/** @typedef {{ readonly place: number, readonly value: string, readonly symbol: number }} Cell */

/** What this task knows of her, by place: true levels, and what was reported last.
 * @typedef {{ readonly levels: ReadonlyMap<number, string>,
 *   readonly last: ReadonlyMap<number, Reported> }} Past
 */

/** @typedef {{ readonly reports: readonly (readonly Cell[])[], readonly refused: number }} Due */

/**
 * @param {import("./store.js").Rows} rows
 * @param {string} task
 * @returns {Past}
 */
export function pastOf({ ratings, reported }, task) {
  const mine = ratings.filter((rating) => rating.task === task);
  const last = reported.filter((one) => one.task === task);
  return {
    levels: new Map(mine.map(({ place, level }) => [place, level])),
    last: new Map(last.map((one) => [one.place, one])),
  };
}

/**
 * Plan "rated": one report for each rating that is not the one reported last, at most one an epoch.
 *
 * Where the limit does not allow another draw the rest is refused. Places are taken in order.
 * @param {Past} past
 * @param {Answers} answers
 * @param {number} epoch
 * @returns {Due}
 */
export function dueRated({ levels, last }, answers, epoch) {
  const due = [...levels].filter(([place, value]) => {
    const before = last.get(place);
    return before?.value !== value && before?.epoch !== epoch;
  });
  const cells = due
    .sort(([a], [b]) => a - b)
    .map(([place, value]) => ({ place, value, symbol: answers.give(place, value) }));
  const given = cells.flatMap(({ symbol, ...cell }) =>
    symbol === undefined ? [] : [{ ...cell, symbol }],
  );
  return { reports: given.map((cell) => [cell]), refused: cells.length - given.length };
}

/**
 * Plans that hide presence: one report an epoch over `places`, whatever was rated.
 *
 * The first through a channel is all or nothing: `BudgetError` when the limit does not allow all of
 * it. Later a cell that it does not allow repeats its last answer, so that whether a report is
 * sent, and its shape, never depend on what was rated.
 * @param {Past} past
 * @param {Answers} answers
 * @param {number} epoch
 * @param {readonly number[]} places
 * @param {string} channel
 * @returns {Due}
 */
export function dueSlots({ levels, last }, answers, epoch, places, channel) {
  if (places.some((place) => last.get(place)?.epoch === epoch)) return { reports: [], refused: 0 };
  const cells = places.map((place) => ({ place, value: levels.get(place) ?? MISSING }));
  const first = places.some((place) => last.get(place)?.channel !== channel);
  const cost = BigInt(answers.missing(cells)) * answers.cost;
  if (first && cost > left(answers.ledger)) {
    throw new BudgetError(
      `A first answer for all ${places.length} places costs epsilon = ${nats(cost)} and ` +
        `${nats(left(answers.ledger))} is left for your lifetime: nothing is drawn.`,
    );
  }
  let refused = 0;
  const report = cells.map(({ place, value }) => {
    const symbol = answers.give(place, value);
    if (symbol !== undefined) return { place, value, symbol };
    refused += 1;
    return repeated(place, answers, last);
  });
  return { reports: [report], refused };
}

/**
 * @param {number} place
 * @param {Answers} answers
 * @param {ReadonlyMap<number, Reported>} last
 * @returns {Cell}
 */
function repeated(place, answers, last) {
  const value = last.get(place)?.value ?? MISSING;
  const symbol = answers.give(place, value);
  if (symbol === undefined)
    throw new BudgetError("A place was never answered for: nothing is drawn.");
  return { place, value, symbol };
}
