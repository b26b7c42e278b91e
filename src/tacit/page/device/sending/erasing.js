/** Erasing: what a device has to show, so that a provider forgets what it was told. */

import { hexadecimal, key } from "../documents/hashing.js";
import { erasureKey } from "../answering/pseudonym.js";

/** @typedef {import("../store.js").Erasure} Erasure */
/** @typedef {import("../store.js").Rows} Rows */

/**
 * A key for each name that was ever reported under, but those for a tacit-task-1, which have none.
 * The token goes with it: it is forgotten otherwise, and a provider that enrols people wants it.
 * @param {Rows} rows
 * @returns {Promise<Erasure[]>}
 */
export async function erasuresOf({ owner: [owner], names, enrolment }) {
  if (owner === undefined) return [];
  const secret = await key(owner.secret);
  const token = enrolment[0]?.token ?? null;
  /** @type {Erasure[]} */
  const found = [];
  for (const { named, provider } of names) {
    if (provider === null) continue;
    const shown = hexadecimal(await erasureKey(secret, named, provider));
    found.push({ task: named, key: shown, token });
  }
  return found;
}
