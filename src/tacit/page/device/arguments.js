/** Argument validation: a wrong call throws `RequestError` with what is expected and the remedy. */

import { RequestError } from "./errors.js";

/**
 * Return the value if it has the type: the name of a primitive type, or a class.
 * @template T
 * @param {"bigint" | "boolean" | "function" | "number" | "string" | (new (...given: never[]) => unknown)} kind
 * @param {T} value
 * @param {string} what
 * @param {string} remedy
 * @returns {T}
 */
export function mustBe(kind, value, what, remedy) {
  if (typeof kind === "string" ? typeof value === kind : value instanceof kind) return value;
  throw new RequestError(`Expected ${what}, got ${shown(value)}; ${remedy}.`);
}

/**
 * Return the value if it is an object with all of these members.
 * @template T
 * @param {readonly string[]} members
 * @param {T} value
 * @param {string} what
 * @param {string} remedy
 * @returns {T}
 */
export function mustHave(members, value, what, remedy) {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new RequestError(`Expected ${what}, got ${shown(value)}; ${remedy}.`);
  const missing = members.find((name) => !(name in value));
  if (missing === undefined) return value;
  throw new RequestError(`Expected ${what}, got ${shown(value)} without ${missing}; ${remedy}.`);
}

/**
 * Return the options of a call if it has no others than these.
 * @template T
 * @param {readonly string[]} names
 * @param {T} value
 * @param {string} what
 * @param {string} remedy
 * @returns {T}
 */
export function options(names, value, what, remedy) {
  mustHave([], value, what, remedy);
  const unknown = Object.keys(value ?? {}).find((name) => !names.includes(name));
  if (unknown === undefined) return value;
  throw new RequestError(`${unknown} is not one of ${what} (${names.join(", ")}); ${remedy}.`);
}

/**
 * Return the integer, if it is at least `least`.
 * @param {string} what
 * @param {number} value
 * @param {number} [least]
 * @returns {number}
 */
export function integer(what, value, least = -Infinity) {
  const bound = least === -Infinity ? "" : ` of at least ${least}`;
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new RequestError(`${what} must be an integer${bound}, got ${shown(value)}.`);
}

/**
 * Return a task that was verified.
 * @template T
 * @param {T} task
 * @returns {T}
 */
export function mustBeTask(task) {
  return mustHave(["question", "items", "scale"], task, "a task", "pass what fetchTask returned");
}

/**
 * Describe a value: a number as in code, otherwise its type, because strings may be confidential.
 * @param {unknown} value
 * @returns {string}
 */
function shown(value) {
  if (value === null || value === undefined || typeof value === "number") return String(value);
  if (typeof value !== "object") return typeof value;
  return value.constructor?.name ?? "object";
}
