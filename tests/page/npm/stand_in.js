/**
 * What the device's tests take from Node, for a browser: `node:assert/strict`, `node:fs` and
 * `node:test` in one module. `tested()` runs what was imported, and says what came of each test.
 */

import { Buffer } from "buffer";

/** @typedef {(error: unknown) => boolean} Wanted */
/** @typedef {RegExp | { message: string } | Function | undefined} Matcher */

/** @type {[name: string, work: () => unknown][]} */
const known = [];

/**
 * @param {string} name
 * @param {() => unknown} work
 */
export function test(name, work) {
  known.push([name, work]);
}

/** @param {URL} url */
export function readFileSync(url) {
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.send();
  return request.responseText;
}

/** One after another, as Node does; null where a test passed. */
async function tested() {
  /** @type {[name: string, said: string | null][]} */
  const said = [];
  for (const [name, work] of known) {
    try {
      await work();
      said.push([name, null]);
    } catch (error) {
      said.push([name, String(error instanceof Error ? error.stack : error)]);
    }
  }
  return said;
}

/**
 * @param {unknown} value
 * @param {string} [why]
 */
function assert(value, why = "not so") {
  if (!value) throw new Error(why);
}

/**
 * Alike all the way down, prototypes too; maps and sets, which no test compares, are refused.
 * @param {unknown} one
 * @param {unknown} other
 * @returns {boolean}
 */
function alike(one, other) {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null)
    return Object.is(one, other);
  if (one instanceof Map || one instanceof Set) throw new Error("maps and sets are not compared");
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  const [mine, others] = [Object.entries(one), new Map(Object.entries(other))];
  return (
    mine.length === others.size &&
    mine.every(([key, value]) => others.has(key) && alike(value, others.get(key)))
  );
}

/**
 * @param {unknown} error
 * @param {Matcher} matcher
 */
function matches(error, matcher) {
  const message = error instanceof Error ? error.message : String(error);
  if (matcher === undefined) return true;
  if (matcher instanceof RegExp) return matcher.test(message);
  if (typeof matcher !== "function") return message === matcher.message;
  if (matcher.prototype instanceof Error) return error instanceof matcher;
  return matcher(error) === true;
}

/** @param {unknown} one @param {unknown} other */
function shown(one, other) {
  const plain = (/** @type {string} */ _key, /** @type {unknown} */ value) =>
    typeof value === "bigint" ? `${value}n` : value;
  return `${JSON.stringify(one, plain)} is not ${JSON.stringify(other, plain)}`;
}

export default Object.assign(assert, {
  /** @param {unknown} one @param {unknown} other @param {string} [why] */
  equal: (one, other, why) => assert(Object.is(one, other), why ?? shown(one, other)),
  /** @param {unknown} one @param {unknown} other @param {string} [why] */
  deepEqual: (one, other, why) => assert(alike(one, other), why ?? shown(one, other)),
  /** @param {string} [why] */
  fail: (why) => assert(false, why),
  /** @param {() => unknown} work @param {Matcher} matcher */
  throws: (work, matcher) => {
    let said;
    try {
      said = work();
    } catch (error) {
      return assert(matches(error, matcher), `another error: ${error}`);
    }
    throw new Error(`no error, but ${said}`);
  },
  /** @param {Promise<unknown>} work @param {Matcher} matcher */
  rejects: (work, matcher) =>
    work.then(
      (said) => Promise.reject(new Error(`no error, but ${said}`)),
      (error) => assert(matches(error, matcher), `another error: ${error}`),
    ),
});

Object.assign(globalThis, { Buffer, tested });
