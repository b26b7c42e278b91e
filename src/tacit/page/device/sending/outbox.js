/** Uploads of the outbox. A retry sends the same bytes. */

import { LONGEST_UPLOAD, MOST_REPORTS, upload } from "../documents/report.js";

/** @typedef {import("../store.js").Outgoing} Outgoing */

const [FIRST_WAIT, LONGEST_WAIT] = [60, 7200]; // seconds
/** Seconds. A longer remaining pause is due to a wrong clock, and ignored. */
export const FORGIVEN = 100_000;
const FRAME = upload([]).length;
const UNKNOWN = 404; // the collector does not have the task

/**
 * The outcome of an upload by row: `stored` and `refused` leave the outbox, `kept` stay in it.
 * `due`: refused rows whose slot has no stored report. `notes`: messages for the user. `later`:
 * whether the collector asked to retry later, after `retryAfter` seconds.
 * @typedef {{ readonly stored: Outgoing[], readonly refused: Outgoing[], readonly kept: Outgoing[],
 *   readonly due: Outgoing[], readonly notes: string[], readonly later: boolean,
 *   readonly retryAfter: number }} Sent
 */

/**
 * Group rows into uploads, one task each, ordered by epoch and index, within the collector's size
 * limits.
 * @param {readonly Outgoing[]} rows
 * @param {string} [current] the question to send first; the others are ordered by address
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
 * Send one upload and return its outcome by row.
 * @param {readonly Outgoing[]} rows of one question, one or more
 * @param {readonly string[]} addresses of the question's tasks, each tried if the collector does
 *   not have the one before
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
  const note = `The collector refused the upload (${status}): ${detail} Your reports are kept.`;
  return { ...nothing, kept: [...rows], notes: [note] };
}

/**
 * Request the erasure of the reports under one pseudonym. `erased`: whether the collector confirmed
 * it. `later` and `retryAfter`: as for an upload.
 * @param {import("../store.js").Erasure} erasure
 * @param {Pick<import("./collector.js").Collector, "erase">} collector
 * @returns {Promise<Pick<Sent, "notes" | "later" | "retryAfter"> & { erased: boolean }>}
 */
export async function askToErase(erasure, collector) {
  const { status, detail, retryAfter } = await collector.erase(erasure);
  const erased = status === 200;
  const later = isLater(status);
  const note =
    `The collector has not erased your reports yet (${status}): ${detail} ` +
    "The request will be repeated.";
  return { erased, later, retryAfter, notes: erased || later ? [] : [note] };
}

/**
 * Return whether a status asks for a later retry.
 * @param {number} status
 */
export function isLater(status) {
  return [0, 408, 429, 431].includes(status) || status >= 500;
}

/**
 * Split rows into permanently refused ones and stored ones. Ids that were not sent are ignored.
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
      ({ id }) => `The collector permanently refused a report: ${why.get(id)?.detail}`,
    ),
  };
}

/**
 * Return the seconds to wait before the next attempt: `retryAfter` plus a random backoff of up to
 * one minute, doubling with each attempt up to two hours. The jitter keeps devices from retrying at
 * the same time.
 * @param {number} attempt from 0
 * @param {number} retryAfter
 * @param {() => number} [chance] uniform in [0, 1); need not be cryptographic
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
 * Return the task addresses for reports on one question: the newest task first, then the one in
 * the earlier format. The provider treats both as one question.
 * @param {readonly Outgoing[]} rows
 * @param {Pick<import("../store.js").Rows, "owner" | "left">} known
 */
export function addressesOf([row], { owner: [owner], left }) {
  const question = row?.task ?? "";
  const isCurrent = owner !== undefined && questionOf(owner) === question;
  const before = left.find(({ task }) => task === question)?.address ?? row?.address;
  return [...new Set([isCurrent ? owner.task : before ?? question, question])];
}

/** @param {import("../store.js").Owner} owner */
export function questionOf({ task, question }) {
  return question ?? task;
}
