/**
 * Reading JSON that a stranger wrote: nothing unknown, missing, repeated or of another type.
 *
 * What could cost more memory than its own length suggests is counted before it is built.
 */

import { decimal, shortest } from "./decimals.js";
import { DataError } from "../errors.js";

/** @typedef {{ readonly [key: string]: unknown }} Fields */

/** Lists and objects inside each other, and all of them, that a document may have. */
const [DEEPEST, MOST_CONTAINERS] = [64, 1 << 18];
const [QUOTE, ESCAPE, COLON] = [0x22, 0x5c, 0x3a];
const [OPEN_LIST, OPEN_OBJECT, CLOSE_LIST, CLOSE_OBJECT] = [0x5b, 0x7b, 0x5d, 0x7d];

/**
 * The JSON value in `text`, which must be spelt in the one way that `JSON.stringify` spells it.
 *
 * That refuses all that a browser's parser would let pass: a key that occurs twice, 5.0 or 5e0 for
 * 5, and whole numbers from 2^53 on, which it rounds.
 * @param {string} text
 * @param {string} what names it in sentences
 * @returns {unknown}
 */
export function parseCanonical(text, what) {
  scanned(text, what);
  const value = parsed(text, what);
  if (JSON.stringify(value) !== text) {
    throw new DataError(`${what} is JSON, but not in its one spelling: shortest, each key once.`);
  }
  return value;
}

/**
 * The JSON value in UTF-8, in any spelling, but with no key twice.
 * @param {Uint8Array} text
 * @param {string} what names it in sentences
 * @param {number} longest bytes
 * @returns {unknown}
 */
export function parse(text, what, longest) {
  if (text.length > longest) {
    throw new DataError(`${what} of ${text.length} bytes is longer than ${longest}.`);
  }
  const read = decoded(text, what);
  const pairs = scanned(read, what);
  const value = parsed(read, what);
  if (keysIn(value) !== pairs) throw new DataError(`${what} is not JSON: a key occurs twice.`);
  return value;
}

/**
 * @param {Uint8Array} bytes
 * @param {string} what
 */
function decoded(bytes, what) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
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
 * How many keys are written in a text; throws `DataError` for more lists and objects than a document
 * has, or deeper ones. An empty list takes two characters, and many times as much once it is built.
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
        throw new DataError(`${what} has more lists and objects than it may, or deeper ones.`);
      }
    }
  }
  return pairs;
}

/**
 * How many keys all objects in a value have.
 * @param {unknown} value
 * @returns {number}
 */
function keysIn(value) {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce((sum, inner) => sum + keysIn(inner), own);
}

/**
 * The JSON object `value`, which must have exactly `keys`, in that order.
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
    const said =
      odd.length > 0 ? `unknown or missing: ${odd.join(", ").slice(0, 200)}` : "in another order";
    throw new DataError(`${what}'s keys are not those of its form: ${said}.`);
  }
  return /** @type {Fields} */ (value);
}

/**
 * The JSON object `value`, which must have exactly `keys`, and of others only `optional` ones, in any
 * order.
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
 * The value of `key`, of exactly this type; a text is one that UTF-8 can write.
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
export function whole(known, key, what) {
  const value = known[key];
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  return refuse(value, key, what, "a whole number");
}

/**
 * A list of at most `most`, each entry read; `read` gives undefined for what it refuses.
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
  if (value.length > most) throw new DataError(`${what}'s ${key} are more than ${most}.`);
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
 * Characters that UTF-8 can write, or undefined.
 * @param {unknown} value
 */
export function text(value) {
  return typeof value === "string" && value.isWellFormed() ? value : undefined;
}

/**
 * A finite number, or undefined.
 * @param {unknown} value
 */
export function real(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/**
 * A whole number below 2^53 in size, or undefined.
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
  throw new DataError(`${what}'s ${key} is or holds ${String(shown).slice(0, 40)}, not ${kind}.`);
}
