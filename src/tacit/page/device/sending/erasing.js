/** Erasure requests: the keys with which a device has its reports erased by the provider. */

import { hexadecimal, key } from "../documents/hashing.js";
import { originOf } from "../answering/consent.js";
import { erasureKey } from "../answering/pseudonym.js";

/** @typedef {import("../store.js").Erasure} Erasure */
/** @typedef {import("../store.js").Rows} Rows */

/**
 * Return an erasure for each pseudonym ever used in a report, except those of a tacit-task-1, which
 * have no key. It includes the enrolment token, which is deleted otherwise and which a provider
 * with enrolment requires.
 * @param {Rows} rows
 * @returns {Promise<Erasure[]>}
 */
export async function erasuresOf({ owner: [owner], left, names, enrolment }) {
  if (owner === undefined) return [];
  const secret = await key(owner.secret);
  const token = enrolment[0]?.token ?? null;
  /** @type {Erasure[]} */
  const found = [];
  for (const { task, named, provider } of names) {
    if (provider === null) continue;
    const shown = hexadecimal(await erasureKey(secret, named, provider));
    const origin = originOf({ owner: [owner], left }, task);
    found.push({ task: named, key: shown, token, origin });
  }
  return found;
}
