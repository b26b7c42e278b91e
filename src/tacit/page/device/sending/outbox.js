/** Sending what is in the outbox; a repeated attempt sends the same bytes. */

import { LONGEST_UPLOAD, MOST_REPORTS, upload } from "../documents/report.js";

/** @typedef {import("../store.js").Outgoing} Outgoing */

const [FIRST_WAIT, LONGEST_WAIT] = [60, 7200]; // seconds
const FRAME = upload([]).length;
const UNKNOWN = 404; // the collector does not have the task

/**
 * What became of the rows: `stored` or `refused` are to be forgotten; `kept` stay. `due`: the
 * refused ones whose slot nobody answered for. `notes` are sentences for people. `later`: whether
 * the collector means "not now", and asks to wait for `retryAfter` seconds.
 * @typedef {{ readonly stored: Outgoing[], readonly refused: Outgoing[], readonly kept: Outgoing[],
 *   readonly due: Outgoing[], readonly notes: string[], readonly later: boolean,
 *   readonly retryAfter: number }} Sent
 */

/**
 * Rows in uploads to one task each, ordered by epoch and place, within the collector's bounds.
 * @param {readonly Outgoing[]} rows
 * @param {string} [current] the question that goes first; the others by their addresses
 * @returns {Outgoing[][]}
 */
export function uploads(rows, current) {
  /** @type {Outgoing[][]} */
  const found = [];
  let size = 0;
  const now = (/** @type {Outgoing} */ { task }) => Number(task === current);
  for (const row of [...rows].sort((a, b) => now(b) - now(a) || inOrder(a, b))) {
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
 * @param {readonly Outgoing[]} rows of one question, one or more
 * @param {readonly string[]} addresses of the question's tasks, the next one for where the
 *   collector does not know the one before
 * @param {Pick<import("./collector.js").Collector, "send">} collector
 * @param {string | null} token
 * @returns {Promise<Sent>}
 */
export async function send(rows, [address = "", ...others], collector, token) {
  const body = upload(rows.map((row) => row.bytes));
  const { status, detail, refused, retryAfter } = await collector.send(address, body, token);
  if (status === UNKNOWN && others.length > 0) return send(rows, others, collector, token);
  /** @type {Sent} */
  const nothing = {
    ...{ stored: [], refused: [], kept: [], due: [], notes: [] },
    ...{ later: false, retryAfter },
  };
  if (status === 200) return { ...nothing, stored: [...rows] };
  if ((status === 409 || status === 422) && refused !== null) {
    return { ...nothing, ...parted(rows, refused) };
  }
  if (isLater(status)) return { ...nothing, kept: [...rows], later: true };
  const note = `The collector refuses this (${status}): ${detail} Your answers are kept.`;
  return { ...nothing, kept: [...rows], notes: [note] };
}

/**
 * Asks the collector to erase what was reported under one name. `erased`: whether it says that it
 * did; `later` and `retryAfter` as for an upload.
 * @param {import("../store.js").Erasure} erasure
 * @param {Pick<import("./collector.js").Collector, "erase">} collector
 * @returns {Promise<Pick<Sent, "notes" | "later" | "retryAfter"> & { erased: boolean }>}
 */
export async function askToErase(erasure, collector) {
  const { status, detail, retryAfter } = await collector.erase(erasure);
  const erased = status === 200;
  const later = isLater(status);
  const note = `The collector does not erase this yet (${status}): ${detail} It is asked again.`;
  return { erased, later, retryAfter, notes: erased || later ? [] : [note] };
}

/**
 * Whether a status means "not now".
 * @param {number} status
 */
function isLater(status) {
  return [0, 408, 429, 431].includes(status) || status >= 500;
}

/**
 * Those that were refused for good; all others are stored. Ids that were not sent mean nothing.
 * @param {readonly Outgoing[]} rows
 * @param {readonly import("./collector.js").Refusal[]} refusals
 */
function parted(rows, refusals) {
  const why = new Map(refusals.map((refusal) => [refusal.id, refusal]));
  const refused = rows.filter(({ id }) => why.has(id));
  return {
    stored: rows.filter(({ id }) => !why.has(id)),
    refused,
    due: refused.filter(({ id }) => why.get(id)?.problem !== "conflict"),
    notes: refused.map(
      ({ id }) => `The collector refused a report for good: ${why.get(id)?.detail}`,
    ),
  };
}

/**
 * How long to wait before the next attempt, in seconds: a random moment up to one minute, doubling
 * to two hours, after what the collector asked for. Random, so that devices do not come in waves.
 * @param {number} attempt from 0
 * @param {number} retryAfter
 * @param {() => number} [chance] from 0 to 1; no secret
 * @returns {number}
 */
export function pause(attempt, retryAfter, chance = Math.random) {
  return retryAfter + chance() * Math.min(FIRST_WAIT * 2 ** attempt, LONGEST_WAIT);
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

/**
 * Where reports on one question go: where it is asked now, and else in the format before; to the
 * provider both are one.
 * @param {readonly Outgoing[]} rows
 * @param {readonly import("../store.js").Owner[]} owner
 */
export function addressesOf([row], [owner]) {
  const question = row?.task ?? "";
  const now = owner !== undefined && questionOf(owner) === question ? owner.task : row?.address;
  return [...new Set([now ?? question, question])];
}

/** @param {import("../store.js").Owner} owner */
export function questionOf({ task, question }) {
  return question ?? task;
}
