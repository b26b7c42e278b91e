/** Common parts of the headers of published models: item ids, counts, and a guarantee. */

import { DataError } from "../errors.js";
import { itemId, MOST_ITEMS } from "./catalogue.js";
import { fields, integral, listed, text } from "./strict.js";

const PROMISE = ["epsilon", "unit", "trust", "released"];
const DETAILS = ["delta", "public", "assumptions", "exact", "fails", "uncovered", "empty"]; // or left out
const UNITS = ["none", "value", "slot", "user"];
const TRUSTED = ["nobody", "shuffler", "curator", "everybody"];

/** The maximum size of a header in bytes. */
export const LONGEST = 1 << 26;
export const MOST_FACTORS = 1024;

/** @typedef {import("./strict.js").Fields} Fields */

/**
 * Return the distinct items of a header. Throws `DataError`.
 * @param {Fields} known
 * @param {string} what
 * @returns {(string | number)[]}
 */
export function itemIds(known, what) {
  const items = listed(known["items"], "items", itemId, what, MOST_ITEMS);
  if (items.length === 0) throw new DataError(`${what} is malformed: it has no items.`);
  if (new Set(items.map(String)).size !== items.length) {
    throw new DataError(`${what} is malformed: an item id occurs twice.`);
  }
  return items;
}

/**
 * Return the indices of hidden items, ascending, at least one. Throws `DataError`.
 * @param {unknown} value
 * @param {readonly unknown[]} items
 * @param {string} what
 * @returns {readonly number[]}
 */
export function hiddenItems(value, items, what) {
  const indices = listed(value, "hidden", integral, what, items.length);
  const first = indices[0] ?? -1;
  if (first < 0 || !indices.every((each, k) => each < (indices[k + 1] ?? items.length))) {
    throw new DataError(
      `${what} is malformed: hidden must list item indices, ascending and at least one.`,
    );
  }
  return indices;
}

/**
 * Return the value of a key, an integer from 0 to `most`. Throws `DataError`.
 * @param {Fields} known
 * @param {string} key
 * @param {number} most
 * @param {string} what
 * @returns {number}
 */
export function count(known, key, most, what) {
  const value = one(known, key, integral, what);
  if (value >= 0 && value <= most) return value;
  throw new DataError(`${what} is malformed: ${key} must be 0 to ${most}.`);
}

/**
 * Return the value of a key. `read` returns undefined for a value that it rejects.
 * @template T
 * @param {Fields} known
 * @param {string} key
 * @param {(value: unknown) => T | undefined} read
 * @param {string} what
 * @returns {T}
 */
export function one(known, key, read, what) {
  const [value] = listed([known[key]], key, read, what);
  return /** @type {T} */ (value);
}

/**
 * Validate a guarantee. Throws `DataError` if it is malformed. The guarantee of a trainer is meant
 * for human readers, and its form is checked all the same.
 * @param {unknown} value
 * @param {string} what
 */
export function guarantee(value, what) {
  const known = fields(value, `${what}'s guarantee`, PROMISE, DETAILS);
  const { delta = "", public: open = [], assumptions = [], exact = false, fails = null } = known;
  const { uncovered = [], empty = null } = known;
  /** @type {Fields} */
  const all = { ...known, delta, public: open, assumptions, exact, fails, uncovered, empty };
  for (const key of ["public", "assumptions", "uncovered"]) listed(all[key], key, text, what);
  for (const key of ["epsilon", "fails", "empty"]) if (all[key] !== null) one(all, key, text, what);
  for (const key of ["released", "delta"]) one(all, key, text, what);
  one(all, "unit", (unit) => UNITS.find((known) => known === unit), what);
  one(all, "trust", (trust) => TRUSTED.find((known) => known === trust), what);
  one(all, "exact", (exact) => (typeof exact === "boolean" ? exact : undefined), what);
}
