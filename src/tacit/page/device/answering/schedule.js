/** Selection of the items that a user is asked about: public, and independent of the ratings. */

import { hashId } from "../documents/hashing.js";

const ASK = 0x8cb92ba72f3d8dd7n; // odd multiplier that mixes the keys of the selected slots
const BATCH = 1024; // hashes requested from the browser at once

/**
 * Return the indices that a report of `person` covers, ascending, under a plan over slots.
 *
 * Under "sample:K" these are the K indices with the smallest keys. Ties go to the smaller index.
 * @param {Pick<import("../documents/task.js").Task, "items" | "slots">} task
 * @param {string} person
 * @returns {Promise<number[]>}
 */
export async function asked({ items, slots }, person) {
  const places = [...items.keys()];
  if (slots === null || slots >= items.length) return places;
  const me = await hashId(person);
  const keys = (await hashesOf(items)).map((own) => pairKey(me, own));
  return places
    .sort((a, b) => compare(keys[a] ?? 0n, keys[b] ?? 0n) || a - b)
    .slice(0, slots)
    .sort((a, b) => a - b);
}

/**
 * Return the indices of a block that the device with this block key is queried about, ascending.
 * @param {import("../documents/catalogue.js").ItemBlock} block
 * @param {string} key
 * @param {readonly bigint[]} itemHashes of all items of the task
 * @returns {Promise<number[]>}
 */
export async function places({ first, end, threshold }, key, itemHashes) {
  const me = await hashId(key);
  const indices = Array.from({ length: end - first }, (_, k) => first + k);
  return indices.filter((place) => pairKey(me, itemHashes[place] ?? 0n) < threshold);
}

/**
 * Return 64 public bits for a pair: (2a + 1)(2b + 1), mixed.
 * @param {bigint} person
 * @param {bigint} item
 * @returns {bigint}
 */
function pairKey(person, item) {
  const product = BigInt.asUintN(64, (2n * person + 1n) * (2n * item + 1n));
  return BigInt.asUintN(64, (product ^ (product >> 32n)) * ASK);
}

/**
 * Return the public hash of each item id, by index.
 * @param {readonly (string | number)[]} items
 * @returns {Promise<bigint[]>}
 */
export async function hashesOf(items) {
  /** @type {bigint[]} */
  const found = [];
  for (let at = 0; at < items.length; at += BATCH) {
    found.push(...(await Promise.all(items.slice(at, at + BATCH).map(hashId))));
  }
  return found;
}

/**
 * @param {bigint} a
 * @param {bigint} b
 */
function compare(a, b) {
  return a < b ? -1 : Number(a > b);
}
