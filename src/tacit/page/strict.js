/** Reading JSON that a stranger wrote: nothing unknown, missing, repeated or of another type. */

import { decimal, shortest } from "./decimals.js";
import { DataError } from "./errors.js";

/** @typedef {{ readonly [key: string]: unknown }} Fields */

/**
 * The JSON value in `text`, which must be spelt in the one way that `JSON.stringify` spells it.
 *
 * That refuses all that a browser's parser would let pass: a key that occurs twice, 5.0 or 5e0 for
 * 5, and whole numbers from 2^53 on, which it rounds.
 * @param {string} text
 * @param {string} what names it in sentences
 * @returns {unknown}
 */
export function parse(text, what) {
  /** @type {unknown} */
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new DataError(`${what} is not JSON.`);
  }
  if (JSON.stringify(value) !== text) {
    throw new DataError(`${what} is JSON, but not in its one spelling: shortest, each key once.`);
  }
  return value;
}

/**
 * The JSON object `value`, which must have exactly `keys`, in that order.
 * @param {unknown} value
 * @param {string} what
 * @param {readonly string[]} keys
 * @returns {Fields}
 */
export function fields(value, what, keys) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new DataError(`${what} is not a JSON object.`);
  }
  const found = Object.keys(value);
  if (found.join() !== keys.join()) {
    const odd = [
      ...found.filter((key) => !keys.includes(key)),
      ...keys.filter((key) => !found.includes(key)),
    ];
    const said =
      odd.length > 0 ? `unknown or missing: ${odd.join(", ").slice(0, 200)}` : "in another order";
    throw new DataError(`${what}'s keys are not those of its form: ${said}.`);
  }
  return /** @type {Fields} */ (value);
}

/**
 * @param {Fields} known
 * @param {string} key
 * @param {string} what
 * @returns {string}
 */
export function text(known, key, what) {
  const value = known[key];
  return typeof value === "string" ? value : refuse(value, key, what, "a text");
}

/**
 * @param {Fields} known
 * @param {string} key
 * @param {string} what
 * @returns {boolean}
 */
export function truth(known, key, what) {
  const value = known[key];
  return typeof value === "boolean" ? value : refuse(value, key, what, "true or false");
}

/**
 * @param {Fields} known
 * @param {string} key
 * @param {string} what
 * @returns {number}
 */
export function whole(known, key, what) {
  const value = known[key];
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  return refuse(value, key, what, "a whole number");
}

/**
 * A list, each entry read; `read` gives undefined for what it refuses.
 * @template T
 * @param {unknown} value
 * @param {string} key
 * @param {string} what
 * @param {(entry: unknown) => T | undefined} read
 * @returns {T[]}
 */
export function listed(value, key, what, read) {
  if (!Array.isArray(value)) return refuse(value, key, what, "a list");
  return value.map((entry) => {
    const one = read(entry);
    return one === undefined ? refuse(entry, key, what, "a list of what belongs there") : one;
  });
}

/**
 * A decimal in its shortest spelling as a string, or undefined.
 * @param {unknown} value
 */
export function number(value) {
  const read = typeof value === "string" ? decimal(value) : undefined;
  return read && shortest(read) === value ? value : undefined;
}

/**
 * @param {unknown} value
 * @param {string} key
 * @param {string} what
 * @param {string} kind
 * @returns {never}
 */
function refuse(value, key, what, kind) {
  const shown = (JSON.stringify(value) ?? "nothing").slice(0, 40);
  throw new DataError(`${what}'s ${key} is or holds ${shown}, not ${kind}.`);
}
