/** Sending what is in the outbox; a repeated attempt sends the same bytes. */

import { LONGEST_UPLOAD, MOST_REPORTS, upload } from "./report.js";

/** @typedef {import("./store.js").Outgoing} Outgoing */

const [FIRST_WAIT, LONGEST_WAIT] = [60, 7200]; // seconds
const FRAME = upload([]).length;

/**
 * What became of the rows: `stored` or `refused` are to be forgotten; `kept` stay. `complaints` are
 * sentences for people. `again`: whether another attempt may help, `retryAfter` seconds from now.
 * @typedef {{ readonly stored: Outgoing[], readonly refused: Outgoing[], readonly kept: Outgoing[],
 *   readonly complaints: string[], readonly again: boolean, readonly retryAfter: number }} Sent
 */

/**
 * Rows in uploads to one task each, ordered by epoch and place, within the collector's bounds.
 * @param {readonly Outgoing[]} rows
 * @returns {Outgoing[][]}
 */
export function uploads(rows) {
  /** @type {Outgoing[][]} */
  const found = [];
  let size = 0;
  for (const row of [...rows].sort(inOrder)) {
    const open = found.at(-1);
    const fits = open !== undefined && open[0]?.task === row.task && open.length < MOST_REPORTS;
    if (fits && size + row.bytes.length + 1 <= LONGEST_UPLOAD) {
      open.push(row);
      size += row.bytes.length + 1;
    } else {
      found.push([row]);
      size = FRAME + row.bytes.length;
    }
  }
  return found;
}

/**
 * Sends one upload and says what became of its rows.
 * @param {readonly Outgoing[]} rows of one task, one or more
 * @param {Pick<import("./collector.js").Collector, "send">} collector
 * @param {string | null} token
 * @returns {Promise<Sent>}
 */
export async function send(rows, collector, token) {
  const body = upload(rows.map((row) => row.bytes));
  const { status, detail, refused, retryAfter } = await collector.send(
    rows[0]?.task ?? "",
    body,
    token,
  );
  /** @type {Sent} */
  const nothing = { stored: [], refused: [], kept: [], complaints: [], again: false, retryAfter };
  if (status === 200) return { ...nothing, stored: [...rows] };
  if ((status === 409 || status === 422) && refused !== null) {
    // Which one is which does not matter any more: the others are stored.
    const complaints = refused.map((why) => `The collector refused a report for good: ${why}`);
    return { ...nothing, refused: [...rows], complaints };
  }
  if ([0, 408, 429, 431].includes(status) || status >= 500) {
    return { ...nothing, kept: [...rows], again: true };
  }
  const complaint = `The collector refuses this (${status}): ${detail} Your answers are kept.`;
  return { ...nothing, kept: [...rows], complaints: [complaint] };
}

/**
 * How long to wait before the next attempt, in seconds: a random moment up to one minute, doubling
 * to two hours, after what the collector asked for. Random, so that devices do not come in waves.
 * @param {number} attempt from 0
 * @param {number} retryAfter
 * @param {() => number} [random] from 0 to 1; no secret
 * @returns {number}
 */
export function pause(attempt, retryAfter, random = Math.random) {
  return retryAfter + random() * Math.min(FIRST_WAIT * 2 ** attempt, LONGEST_WAIT);
}

/**
 * @param {Outgoing} a
 * @param {Outgoing} b
 */
function inOrder(a, b) {
  return (
    Number(a.task > b.task) - Number(a.task < b.task) || a.epoch - b.epoch || a.place - b.place
  );
}
