/** Ledger entries per rated item: the value, its answers, and whether a report is still waiting. */

import { UNRATED } from "../documents/channel.js";
import { historyOf } from "./due.js";

/** @typedef {import("../store.js").Answer} Answer */

/**
 * `last`: the last reported value. `answers`: all answers ever drawn for this item. `waits`:
 * whether the last report is still in the outbox.
 * @typedef {{ readonly place: number, readonly level: string | undefined,
 *   readonly last: import("../store.js").Reported | undefined,
 *   readonly answers: readonly Answer[], readonly waits: boolean }} Entry
 */

/**
 * Return an entry for every item with a current rating or a past answer, in index order.
 * @param {import("../documents/task.js").Task} task
 * @param {import("../store.js").Rows} rows
 * @returns {Entry[]}
 */
export function entriesOf(task, rows) {
  const { levels, last } = historyOf(rows, task.question);
  const answers = [...rows.answers, ...rows.blocks].filter(
    (answer) => answer.task === task.question,
  );
  const byPlace = Map.groupBy(answers, ({ place }) => place);
  const answered = answers.filter(({ value }) => value !== UNRATED).map(({ place }) => place);
  const waiting = rows.outbox.filter((row) => row.task === task.question);
  return [...new Set([...levels.keys(), ...answered])]
    .sort((a, b) => a - b)
    .map((place) => {
      const epoch = last.get(place)?.epoch;
      const waits = waiting.some(
        (row) => row.epoch === epoch && (task.hidesPresence || row.place === place),
      );
      const own = byPlace.get(place) ?? [];
      return { place, level: levels.get(place), last: last.get(place), answers: own, waits };
    });
}
