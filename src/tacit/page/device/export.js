/** What the device holds about its owner, as a file that lets nobody send in their name. */

import { nats } from "./answering/ledger.js";

/**
 * JSON of the rows, nano-epsilon as a decimal in nats, but for what others could send with: the
 * secret behind the names, keys to erase with, the enrolment token, and ids and bytes of reports.
 * @param {import("./store.js").Rows} rows
 * @returns {string}
 */
export function exported(rows) {
  const { owner, enrolment: _, names: _names, erasures: _keys, outbox, ...rest } = rows;
  const known = {
    owner: owner.map(({ task, maximum, limit }) => ({ task, maximum, limit })),
    ...rest,
    outbox: outbox.map(({ task, epoch, place }) => ({ task, epoch, place })),
  };
  const plain = (/** @type {string} */ _key, /** @type {unknown} */ value) =>
    typeof value === "bigint" ? nats(value) : value;
  return JSON.stringify({ format: "tacit-device-1", ...known }, plain, 2);
}
