/** Export of the owner's data, without anything that would allow others to send reports. */

import { nats } from "./answering/ledger.js";

/**
 * Serialize the rows as JSON, nano-epsilon as a decimal in nats. Excluded is what would allow
 * others to send or erase reports: the secret, the erasure keys, the enrolment token, and the ids
 * and bytes of reports.
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
