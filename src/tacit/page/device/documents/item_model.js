/**
 * The item model: what a provider publishes and a device downloads.
 *
 *     theta_ui = mu + x_u[0] + item_bias_i + x_u[1:] . item_factors_i
 *     x_u ~ N(prior, 1 / precision)
 *
 * for each of 1 to 32 draws; a prediction is the mean over draws of the link.
 */

import { DataError } from "../errors.js";
import * as itemModelHeader from "./item_model_header.js";

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
 * How a device turns its owner's list of rated items into features: [(log(1 + N) - logMean) /
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
 * The model in the bytes of a published one; throws `DataError` when they are something else.
 * @param {import("./hashing.js").Bytes} data
 * @returns {ItemModel}
 */
export function fromBytes(data) {
  if (MAGIC.some((byte, at) => data[at] !== byte)) throw new DataError("This is no item model.");
  const start = MAGIC.length + 4;
  if (data.length < start) throw cut();
  const length = new DataView(data.buffer, data.byteOffset).getUint32(MAGIC.length, true);
  if (data.length < start + length) throw cut();
  const header = itemModelHeader.loads(data.subarray(start, start + length));
  const { items, factors, features, presence, mu, scale, link, sigma } = header;
  const [n, row, d] = [items.length, 1 + factors, features - 1];
  const block = data.subarray(start + length);
  if (block.length !== 4 * header.floats) throw cut();
  const take = reader(block);
  const draws = mu.map((mu) => ({
    mu,
    itemBias: take(n),
    itemFactors: take(n * factors),
    precision: take(row),
    priorWeights: take(features * row),
  }));
  if (draws.some(({ precision }) => precision.some((value) => value <= 0))) {
    throw new DataError("A precision of this item model is not above 0.");
  }
  return {
    ...{ scale, items, factors, link, sigma, draws },
    presence: presence && { vectors: take(n * d), centre: take(d), ...presence },
  };
}

/**
 * Takes a block of little-endian floats apart from the front; throws `DataError` for a number that is
 * none.
 * @param {Uint8Array} block
 * @returns {(count: number) => Float32Array}
 */
function reader(block) {
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  let at = 0;
  return (count) => {
    const part = new Float32Array(count);
    for (let k = 0; k < count; k++) part[k] = view.getFloat32(4 * (at + k), true);
    at += count;
    if (!part.every(Number.isFinite)) {
      throw new DataError("A number of this item model is infinite, or none.");
    }
    return part;
  };
}

function cut() {
  return new DataError("This item model is cut short or longer than it says; download it again.");
}
