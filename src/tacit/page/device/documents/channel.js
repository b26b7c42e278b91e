/**
 * A channel is a table: one row per input, one column per output symbol, rows summing to 2^w.
 *
 * It arrives in a task, from a provider, and is verified before use: none of its claims about
 * itself are trusted.
 */

import { flaw } from "./certificate.js";
import { CertificateError, DataError, RequestError } from "../errors.js";
import { address } from "./hashing.js";
import * as ratingScale from "./scale.js";
import { MOST_LEVELS } from "./scale.js";
import { fieldsInOrder, integer, listed, number, typed } from "./strict.js";

/**
 * Input x gives symbol y with probability weights[x][y] / 2^wordBits. Inputs are the `levels` in
 * order, preceded by "missing" when `missing` is true. `outputs[y]` is the public number that
 * symbol y stands for, null for the symbol "missing". `epsilon` is in nats per value (per slot
 * when `missing`). `bounds`: where each symbol's share of [0, 2^w) ends, without the last.
 * @typedef {object} Channel
 * @property {string} id
 * @property {string} scale
 * @property {readonly string[]} levels
 * @property {boolean} missing
 * @property {readonly (string | null)[]} outputs
 * @property {number} wordBits
 * @property {readonly (readonly bigint[])[]} weights
 * @property {readonly (readonly bigint[])[]} bounds
 * @property {string} epsilon
 */

export const FORMAT = "tacit-channel-1";
/** The value that stands for an unrated item. */
export const UNRATED = "missing";
const KEYS = [
  "format",
  "scale",
  "levels",
  "missing",
  "outputs",
  "word_bits",
  "weights",
  "epsilon",
  "id",
];
const WHAT = "The channel";
const WEIGHT = /^[1-9][0-9]{0,19}$/;
const MOST_SYMBOLS = 1 << 15;

/**
 * Parse and verify the channel of a JSON value.
 *
 * Throws `DataError` if it is malformed, and `CertificateError` if the id is not that of the table
 * or the table does not prove its epsilon.
 * @param {unknown} value
 * @returns {Promise<Channel>}
 */
export async function ofJson(value) {
  const known = fieldsInOrder(value, WHAT, KEYS);
  const channel = await formed(known);
  if (known["id"] !== channel.id) {
    const { id } = known;
    const declared = typeof id === "object" && id !== null ? "nothing" : String(id).slice(0, 64);
    throw new CertificateError(
      `The channel declares id ${declared}, but its table has id ${channel.id}: ` +
        "it was changed in transit; fetch it again.",
    );
  }
  const why = flaw(channel.weights, channel.wordBits, channel.epsilon);
  if (why !== null) throw new CertificateError(why);
  return channel;
}

/**
 * Return the row of a rating, or of "missing".
 *
 * Throws `RequestError` for a rating off the scale. It is refused before any draw and never moved
 * to the nearest level, because a table proves nothing about values outside its inputs.
 * @param {Channel} channel
 * @param {string} rating a level, or `UNRATED`
 * @returns {number}
 */
export function row(channel, rating) {
  if (rating === UNRATED && channel.missing) return 0;
  const level = channel.levels.indexOf(rating);
  if (level < 0) {
    const levels = channel.levels.join(", ");
    throw new RequestError(`A rating is not an input of this channel; use one of ${levels}.`);
  }
  return level + Number(channel.missing);
}

/**
 * @param {import("./strict.js").Fields} known
 * @returns {Promise<Channel>}
 */
async function formed(known) {
  if (known["format"] !== FORMAT) throw new DataError(`The channel's format must be ${FORMAT}.`);
  const levels = listed(known["levels"], "levels", number, WHAT, MOST_LEVELS);
  const scale = ratingScale.parse(typed(known, "scale", "string", WHAT));
  if (levels.join() !== scale.levels.join()) {
    throw new DataError(`The channel's levels differ from those of its scale ${scale.text}.`);
  }
  const channel = {
    scale: scale.text,
    levels: scale.levels,
    missing: typed(known, "missing", "boolean", WHAT),
    outputs: listed(known["outputs"], "outputs", output, WHAT, MOST_SYMBOLS),
    wordBits: integer(known, "word_bits", WHAT),
    weights: listed(known["weights"], "weights", shares, WHAT, MOST_LEVELS + 1),
    epsilon: typed(known, "epsilon", "string", WHAT),
  };
  refuseShape(channel);
  return { ...channel, bounds: channel.weights.map(ends), id: await identity(channel) };
}

/** @param {Pick<Channel, "levels" | "missing" | "outputs" | "weights">} channel */
function refuseShape({ levels, missing, outputs, weights }) {
  if (weights.length !== levels.length + Number(missing)) {
    throw new DataError(`A channel over ${levels.length} levels has ${weights.length} rows.`);
  }
  if (weights.some((row) => row.length !== outputs.length)) {
    throw new DataError(`Every row of the channel must have ${outputs.length} weights.`);
  }
  if (outputs.length < 1 || outputs.length > MOST_SYMBOLS) {
    throw new DataError(
      `A channel must have 1 to ${MOST_SYMBOLS} symbols, got ${outputs.length}.`,
    );
  }
}

/**
 * Return the SHA-256 of the canonical text of the table. Epsilon is a claim about it and is left
 * out.
 * @param {Omit<Channel, "id" | "bounds">} channel
 * @returns {Promise<string>}
 */
function identity(channel) {
  return address(
    [
      FORMAT,
      channel.levels.join(),
      channel.missing ? "1" : "0",
      channel.outputs.map((output) => output ?? "?").join(),
      String(channel.wordBits),
      ...channel.weights.map((row) => row.join()),
    ].join("\n"),
  );
}

/** @param {unknown} value */
function output(value) {
  return value === null ? null : number(value);
}

/** @param {unknown} value */
function shares(value) {
  return listed(value, "weights", weight, WHAT, MOST_SYMBOLS);
}

/** @param {unknown} value */
function weight(value) {
  return typeof value === "string" && WEIGHT.test(value) ? BigInt(value) : undefined;
}

/** @param {readonly bigint[]} weights */
function ends(weights) {
  let sum = 0n;
  return weights.slice(0, -1).map((weight) => (sum += weight));
}
