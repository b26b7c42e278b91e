/**
 * The collector's short replies: its current task, its newest model, and refused reports.
 *
 * Nothing in them is trusted except addresses, whose documents are checked, and ids that were sent.
 */

import { DataError } from "../errors.js";
import { fields, listed, parse } from "../documents/strict.js";

/** The maximum size of a short reply in bytes. */
export const LONGEST = 1 << 18;
const WHAT = "The collector's response";
const ADDRESS = /^[0-9a-f]{64}$/;
const LONGEST_DETAIL = 200; // maximum number of its characters shown to the user

/**
 * The reason why a report is not stored.
 * @typedef {{ readonly id: string, readonly problem: string,
 *   readonly detail: string }} Refusal
 */

/**
 * Return the address of the task to answer first, or null without one.
 * @param {Uint8Array} body
 * @returns {string | null}
 */
export function firstTask(body) {
  const { tasks } = fields(parse(body, WHAT, LONGEST), WHAT, ["tasks"]);
  return listed(tasks, "tasks", addressOf, WHAT)[0] ?? null;
}

/**
 * Return the address of the newest item model.
 * @param {Uint8Array} body
 * @returns {string}
 */
export function newestModel(body) {
  const { model } = fields(parse(body, WHAT, LONGEST), WHAT, ["model"]);
  const [address = ""] = listed([model], "model", addressOf, WHAT);
  return address;
}

/**
 * Parse a problem document. `refused` is null if it does not name the reports it refers to: then
 * none may be given up.
 * @param {Uint8Array} body
 * @returns {{ readonly detail: string, readonly refused: readonly Refusal[] | null }}
 */
export function problemOf(body) {
  try {
    const found = parse(body, WHAT, LONGEST);
    const known = typeof found === "object" && found !== null ? { ...found } : {};
    const detail = "detail" in known ? shown(known.detail) : "";
    return { detail, refused: "refused" in known ? refusals(known.refused) : null };
  } catch (error) {
    if (error instanceof DataError) return { detail: "", refused: null };
    throw error;
  }
}

/**
 * @param {unknown} entries
 * @returns {Refusal[] | null}
 */
function refusals(entries) {
  const read = Array.isArray(entries) ? entries.map(refusal) : [null];
  return read.every((one) => one !== null) ? read : null;
}

/**
 * Parse one refusal. An id that is not a text was never sent.
 * @param {unknown} entry
 * @returns {Refusal | null}
 */
function refusal(entry) {
  if (typeof entry !== "object" || entry === null || !("id" in entry)) return null;
  const { id, problem, detail } = { problem: "", detail: "", ...entry };
  return {
    id: typeof id === "string" ? id : "",
    problem: typeof problem === "string" ? problem : "",
    detail: shown(detail) || "no reason given",
  };
}

/** @param {unknown} text */
function shown(text) {
  return typeof text === "string" ? text.slice(0, LONGEST_DETAIL) : "";
}

/** @param {unknown} value */
function addressOf(value) {
  return typeof value === "string" && ADDRESS.test(value) ? value : undefined;
}
