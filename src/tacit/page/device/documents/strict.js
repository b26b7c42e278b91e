/**
 * Strict parsing of untrusted JSON: no unknown, missing or repeated keys, and no other types.
 *
 * Structures that could cost more memory than their length suggests are counted before they are
 * built.
 */

import { decimal, shortest } from "./decimals.js";
import { DataError } from "../errors.js";

/** @typedef {{ readonly [key: string]: unknown }} Fields */

/** The maximum nesting depth of lists and objects, and their maximum number, in a document. */
const [DEEPEST, MOST_CONTAINERS] = [64, 1 << 18];
const [QUOTE, ESCAPE, COLON] = [0x22, 0x5c, 0x3a];
const [OPEN_LIST, OPEN_OBJECT, CLOSE_LIST, CLOSE_OBJECT] = [0x5b, 0x7b, 0x5d, 0x7d];

/**
 * Parse JSON that must be spelt exactly as `JSON.stringify` spells it.
 *
 * That rejects everything that a browser's parser would accept silently: a key that occurs twice,
 * 5.0 or 5e0 for 5, and integers from 2^53 on, which it rounds.
 * @param {string} text
 * @param {string} what name of the document in error messages
 * @returns {unknown}
 */
export function parseCanonical(text, what) {
  scanned(text, what);
  const value = parsed(text, what);
  if (JSON.stringify(value) !== text) {
    throw new DataError(`${what} is not canonical JSON (the shortest form, each key once).`);
  }
  return value;
}

/**
 * Parse JSON in UTF-8, in any spelling, without duplicate keys.
 * @param {Uint8Array} text
 * @param {string} what name of the document in error messages
 * @param {number} longest bytes
 * @returns {unknown}
 */
export function parse(text, what, longest) {
  if (text.length > longest) {
    throw new DataError(`${what} of ${text.length} bytes is longer than ${longest}.`);
  }
  const read = decoded(text, what, false);
  const pairs = scanned(read, what);
  const value = parsed(read, what);
  if (keysIn(value) !== pairs) throw new DataError(`${what} is not JSON: a key occurs twice.`);
  return value;
}

/**
 * Decode UTF-8. Throws `DataError` for other bytes.
 * @param {Uint8Array} bytes
 * @param {string} what name of the document in error messages
 * @param {boolean} [ignoreBOM] whether a byte order mark is a character of the text
 */
export function decoded(bytes, what, ignoreBOM = true) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM }).decode(bytes);
  } catch {
    throw new DataError(`${what} is not UTF-8.`);
  }
}

/**
 * @param {string} text
 * @param {string} what
 * @returns {unknown}
 */
function parsed(text, what) {
  try {
    return JSON.parse(text);
  } catch {
    throw new DataError(`${what} is not JSON.`);
  }
}

/**
 * Count the keys in a text. Throws `DataError` if it has more lists and objects than a document may
 * have, or deeper ones. An empty list takes two characters, and many times as much once it is
 * built.
 * @param {string} text
 * @param {string} what
 * @returns {number}
 */
function scanned(text, what) {
  let [depth, containers, pairs, quoted] = [0, 0, 0, false];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) quoted = !quoted;
    else if (quoted) at += Number(code === ESCAPE);
    else if (code === COLON) pairs += 1;
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      [depth, containers] = [depth + 1, containers + 1];
      if (depth > DEEPEST || containers > MOST_CONTAINERS) {
        throw new DataError(`${what} has too many lists and objects, or they are nested too deeply.`);
      }
    }
  }
  return pairs;
}

/**
 * Return the total number of keys of all objects in a value.
 * @param {unknown} value
 * @returns {number}
 */
function keysIn(value) {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce((sum, inner) => sum + keysIn(inner), own);
}

/**
 * Return the JSON object `value`, which must have exactly `keys`, in that order.
 * @param {unknown} value
 * @param {string} what
 * @param {readonly string[]} keys
 * @returns {Fields}
 */
export function fieldsInOrder(value, what, keys) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new DataError(`${what} is not a JSON object.`);
  }
  const found = Object.keys(value);
  if (found.join() !== keys.join()) {
    const odd = [
      ...found.filter((key) => !keys.includes(key)),
      ...keys.filter((key) => !found.includes(key)),
    ];
    const problem =
      odd.length > 0 ? `unknown or missing: ${odd.join(", ").slice(0, 200)}` : "in another order";
    throw new DataError(`${what}'s keys do not match its format: ${problem}.`);
  }
  return /** @type {Fields} */ (value);
}

/**
 * Return the JSON object `value`, which must have exactly `keys` and, beyond these, only `optional`
 * ones, in any order.
 * @param {unknown} value
 * @param {string} what
 * @param {readonly string[]} keys
 * @param {readonly string[]} [optional]
 * @returns {Fields}
 */
export function fields(value, what, keys, optional = []) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new DataError(`${what} is not a JSON object.`);
  }
  const found = Object.keys(value);
  const odd = [
    ...found.filter((key) => !keys.includes(key) && !optional.includes(key)),
    ...keys.filter((key) => !found.includes(key)),
  ];
  if (odd.length > 0) {
    throw new DataError(`${what} has unknown or missing keys: ${odd.join(", ").slice(0, 200)}.`);
  }
  return /** @type {Fields} */ (value);
}

/**
 * Return the value of `key`, of exactly this type. A text must be encodable in UTF-8.
 * @template {"string" | "boolean"} Kind
 * @param {Fields} known
 * @param {string} key
 * @param {Kind} kind
 * @param {string} what
 * @returns {Kind extends "string" ? string : boolean}
 */
export function typed(known, key, kind, what) {
  const value = known[key];
  const broken = typeof value === "string" && !value.isWellFormed();
  if (typeof value !== kind || broken) return refuse(value, key, what, `a ${kind}`);
  return /** @type {Kind extends "string" ? string : boolean} */ (value);
}

/**
 * @param {Fields} known
 * @param {string} key
 * @param {string} what
 * @returns {number}
 */
export function integer(known, key, what) {
  const value = known[key];
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  return refuse(value, key, what, "an integer");
}

/**
 * Return a parsed list of at most `most` entries. `read` returns undefined for an entry that it
 * rejects.
 * @template T
 * @param {unknown} value
 * @param {string} key
 * @param {(entry: unknown) => T | undefined} read
 * @param {string} what
 * @param {number} [most]
 * @returns {T[]}
 */
export function listed(value, key, read, what, most = Infinity) {
  if (!Array.isArray(value)) return refuse(value, key, what, "a list");
  if (value.length > most) throw new DataError(`${what} has more than ${most} ${key}.`);
  return value.map((entry) => {
    const one = read(entry);
    return one === undefined ? refuse(entry, key, what, "a list of valid entries") : one;
  });
}

/**
 * Return a decimal in its shortest spelling as a string, or undefined.
 * @param {unknown} value
 */
export function number(value) {
  const read = typeof value === "string" ? decimal(value) : undefined;
  return read && shortest(read) === value ? value : undefined;
}

/**
 * Return a text that can be encoded in UTF-8, or undefined.
 * @param {unknown} value
 */
export function text(value) {
  return typeof value === "string" && value.isWellFormed() ? value : undefined;
}

/**
 * Return a finite number, or undefined.
 * @param {unknown} value
 */
export function real(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/**
 * Return an integer below 2^53 in absolute value, or undefined.
 * @param {unknown} value
 */
export function integral(value) {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}

/**
 * @param {unknown} value
 * @param {string} key
 * @param {string} what
 * @param {string} kind
 * @returns {never}
 */
function refuse(value, key, what, kind) {
  const shown = typeof value === "object" && value !== null ? "a list or an object" : value;
  throw new DataError(`${what}'s ${key} must be ${kind}, got ${String(shown).slice(0, 40)}.`);
}
