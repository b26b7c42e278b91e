/**
 * The item model: what a provider publishes and a device downloads.
 *
 *     theta_ui = mu + x_u[0] + item_bias_i + x_u[1:] . item_factors_i
 *     x_u ~ N(prior, 1 / precision)
 *
 * for each of 1 to 32 draws; a prediction is the mean over draws of the link.
 */

import { DataError } from "./errors.js";
import { parseScale } from "./scale.js";

const MOST_DRAWS = 32;
const MAGIC = new TextEncoder().encode("tacit-item-model-1\n");

/** @typedef {string | number} Item */

/**
 * One draw of the item side, row by row. `itemBias`: n. `itemFactors`: n x K. `precision`: 1 + K,
 * bias first. `priorWeights`: features x (1 + K); empty for zero.
 * @typedef {{ readonly mu: number, readonly itemBias: Float32Array,
 *   readonly itemFactors: Float32Array, readonly precision: Float32Array,
 *   readonly priorWeights: Float32Array }} ItemDraw
 */

/**
 * How a device turns her own list of rated items into features: [(log(1 + N) - logMean) /
 * logScale, sum of the items' vectors / (N + damping) - centre].
 * @typedef {{ readonly vectors: Float32Array, readonly centre: Float32Array,
 *   readonly logMean: number, readonly logScale: number, readonly damping: number }} ItemPresence
 */

/**
 * @typedef {{ readonly scale: import("./scale.js").Scale, readonly items: readonly Item[],
 *   readonly factors: number, readonly link: "linear" | "cells", readonly sigma: number,
 *   readonly draws: readonly ItemDraw[], readonly presence: ItemPresence | null }} ItemModel
 */

/**
 * @typedef {{ scale: string, items: Item[], factors: number, link: "linear" | "cells",
 *   sigma: number, mu: number[], features: number,
 *   presence: { log_mean: number, log_scale: number, damping: number } | null }} Header
 */

/**
 * The model in the bytes of a published one; throws `DataError` when they are something else.
 * @param {import("./hashing.js").Bytes} bytes
 * @returns {ItemModel}
 */
export function readModel(bytes) {
  if (MAGIC.some((byte, at) => bytes[at] !== byte)) throw new DataError("This is no item model.");
  const start = MAGIC.length + 4;
  const length =
    bytes.length < start
      ? 0
      : new DataView(bytes.buffer, bytes.byteOffset).getUint32(MAGIC.length, true);
  const header = readHeader(bytes.subarray(start, start + length));
  const take = reader(bytes.slice(start + length));
  const [n, K, features] = [header.items.length, header.factors, header.features];
  const draws = header.mu.map((mu) => ({
    mu,
    itemBias: take(n),
    itemFactors: take(n * K),
    precision: take(1 + K),
    priorWeights: take(features * (1 + K)),
  }));
  const { presence, link, sigma, items } = header;
  const model = {
    scale: parseScale(header.scale),
    items,
    factors: K,
    link,
    sigma,
    draws,
    presence: presence && {
      vectors: take(n * (features - 1)),
      centre: take(features - 1),
      logMean: presence.log_mean,
      logScale: presence.log_scale,
      damping: presence.damping,
    },
  };
  if (take(Infinity).length > 0) throw cut();
  return model;
}

/**
 * @param {Uint8Array} bytes
 * @returns {Header}
 */
function readHeader(bytes) {
  /** @type {unknown} */
  let header;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw cut();
  }
  if (!isHeader(header)) throw new DataError("The header of this item model lacks something.");
  return header;
}

/**
 * @param {unknown} value
 * @returns {value is Header}
 */
function isHeader(value) {
  if (typeof value !== "object" || value === null) return false;
  /** @type {{ readonly [key: string]: unknown }} */
  const { scale, items, factors, link, sigma, mu, features, presence } = { ...value };
  return (
    typeof scale === "string" &&
    (link === "linear" || link === "cells") &&
    [factors, sigma, features].every((one) => typeof one === "number" && one >= 0) &&
    Array.isArray(items) &&
    Array.isArray(mu) &&
    mu.length >= 1 &&
    mu.length <= MOST_DRAWS &&
    mu.every((one) => typeof one === "number") &&
    (presence === null || typeof presence === "object")
  );
}

/**
 * Takes a block of little-endian floats apart from the front, and notices when it is short.
 * @param {import("./hashing.js").Bytes} block
 * @returns {(count: number) => Float32Array}
 */
function reader(block) {
  const view = new DataView(block.buffer);
  if (block.length % 4 > 0) throw cut();
  const floats = Float32Array.from({ length: block.length / 4 }, (_, at) =>
    view.getFloat32(4 * at, true),
  );
  let at = 0;
  return (count) => {
    const part = floats.subarray(at, at + count);
    if (part.length < count && count < Infinity) throw cut();
    at += part.length;
    return part;
  };
}

function cut() {
  return new DataError("This item model is cut short or longer than it says; download it again.");
}
