/** The rating scale: a public grid of admissible levels, in exact decimals. */

import { decimal, scaled, shortest } from "./decimals.js";
import { DataError, RequestError } from "../errors.js";

/** @typedef {import("./decimals.js").Decimal} Decimal */

/**
 * `levels`: every admissible rating as a shortest decimal, lowest first. `values`: the same as
 * floats, for estimation only.
 * @typedef {{ readonly text: string, readonly levels: readonly string[],
 *             readonly values: readonly number[] }} Scale
 */

/** The maximum number of levels of a scale: as many as two bytes can number. */
export const MOST_LEVELS = 1 << 16;

/**
 * The text of the one-level scale of implicit feedback: it records an interaction, not a rating.
 */
const THERE = "there";

/**
 * Return whether an entry records presence only: a scale with these levels is `there`.
 * @param {{ readonly levels: readonly string[] }} scale or a channel over it
 * @returns {boolean}
 */
export function hasOneLevel({ levels }) {
  return levels.length === 1;
}

/**
 * Parse `low:high:step`, for example `1:5:1`, in its shortest spelling, or `there`.
 * @param {string} text
 * @returns {Scale}
 */
export function parse(text) {
  if (text === THERE) return { text, levels: ["1"], values: [1] };
  const [low, high, step, ...rest] = text.split(":").map(decimal);
  if (!low || !high || !step || rest.length > 0) {
    throw new DataError(`The scale '${text.slice(0, 60)}' is not low:high:step, such as 1:5:1.`);
  }
  const places = Math.max(low.places, high.places, step.places);
  const from = scaled(low, places);
  const by = scaled(step, places);
  const range = scaled(high, places) - from;
  if (by <= 0n || range <= 0n || range % by !== 0n || range / by >= BigInt(MOST_LEVELS)) {
    throw new DataError(`The scale '${text.slice(0, 60)}' has no levels; write low:high:step.`);
  }
  if ([low, high, step].map(shortest).join(":") !== text) {
    throw new DataError(`The scale '${text.slice(0, 60)}' is not in its shortest form.`);
  }
  const levels = Array.from({ length: Number(range / by) + 1 }, (_, k) =>
    shortest({ units: from + BigInt(k) * by, places }),
  );
  return { text, levels, values: levels.map(Number) };
}

/**
 * Return the number of the level that a rating is, exactly. Throws `RequestError` for any other
 * rating. The message does not contain it, because it may be logged.
 * @param {Pick<Scale, "text" | "levels">} scale
 * @param {string | number} rating
 * @returns {number}
 */
export function levelOf(scale, rating) {
  const exact = decimal(String(rating));
  const level = exact === undefined ? -1 : scale.levels.indexOf(shortest(exact));
  if (level >= 0) return level;
  throw new RequestError(
    hasOneLevel(scale)
      ? "For implicit feedback, a rating must be 1 (an interaction) or null."
      : `This rating is not on the scale ${scale.text}.`,
  );
}
