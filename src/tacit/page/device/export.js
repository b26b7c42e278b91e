/** Export of the owner's data, without anything that would allow others to send reports. */

import { nats } from "./answering/ledger.js";

/**
 * Serialize the rows as JSON, nano-epsilon as a decimal in nats. Excluded is what would allow
 * others to send or erase reports: the secret, the erasure keys, the enrolment token, the ids and
 * bytes of reports, and the bundles and tokens of shuffled tasks.
 * @param {import("./store.js").Rows} rows
 * @returns {string}
 */
export function exported(rows) {
  const { owner, enrolment: _, names: _names, erasures: _keys, outbox, ...others } = rows;
  const { shuffled, shufflers: _heads, tokens: _tokens, ...rest } = others;
  const answered = shuffled.map(({ task, bundle }) => ({ task, waiting: bundle !== null }));
  const known = {
    owner: owner.map(({ task, maximum, limit }) => ({ task, maximum, limit })),
    ...rest,
    outbox: outbox.map(({ task, epoch, place }) => ({ task, epoch, place })),
    ...(answered.length > 0 ? { shuffled: answered } : {}),
  };
  const plain = (/** @type {string} */ _key, /** @type {unknown} */ value) =>
    typeof value === "bigint" ? nats(value) : value;
  return JSON.stringify({ format: "tacit-device-1", ...known }, plain, 2);
}
