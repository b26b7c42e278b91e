/**
 * The item model: published by a provider and downloaded by devices.
 *
 *     theta_ui = mu + x_u[0] + item_bias_i + x_u[1:] . item_factors_i
 *     x_u ~ N(prior, 1 / precision)
 *
 * for each of 1 to 32 draws. A prediction is the mean over draws of the link. Format 2 has a
 * shrinkage: every own rating adds the shrinkage of its item to the precision of x_u[1:]. Its
 * factors and vectors are halves.
 */

import { parted, startsWith } from "./binary.js";
import { DataError } from "../errors.js";
import * as itemModelHeader from "./item_model_header.js";

const MAGIC = "tacit-item-model-1\n";
const SHRINKING = "tacit-item-model-2\n";

/** @typedef {string | number} Item */

/**
 * One draw of the item side, row by row. `itemBias`: n. `itemFactors`: n x K. `precision`: 1 + K,
 * bias first. `priorWeights`: features x (1 + K); empty for zero. `shrinkage`: n; empty for zero.
 * @typedef {{ readonly mu: number, readonly itemBias: Float32Array,
 *   readonly itemFactors: Float32Array, readonly precision: Float32Array,
 *   readonly priorWeights: Float32Array, readonly shrinkage: Float32Array }} ItemDraw
 */

/**
 * The map from the owner's list of rated items to features: [(log(1 + N) - logMean) / logScale, sum
 * of the items' vectors / (N + damping) - centre].
 * @typedef {{ readonly vectors: Float32Array, readonly centre: Float32Array,
 *   readonly logMean: number, readonly logScale: number, readonly damping: number }} ItemPresence
 */

/**
 * @typedef {{ readonly scale: import("./scale.js").Scale, readonly items: readonly Item[],
 *   readonly factors: number, readonly link: "linear" | "cells", readonly sigma: number,
 *   readonly draws: readonly ItemDraw[], readonly presence: ItemPresence | null }} ItemModel
 */

/**
 * Parse the bytes of a published item model. Throws `DataError` if they are malformed.
 * @param {import("./hashing.js").Bytes} data
 * @returns {ItemModel}
 */
export function fromBytes(data) {
  const shrinking = startsWith(SHRINKING, data);
  const [text, numbers] = parted(shrinking ? SHRINKING : MAGIC, data, "item model");
  const header = itemModelHeader.parseHeader(text);
  numbers.require(header.size(shrinking));
  const { items, factors, features, presence, mu, scale, link, sigma } = header;
  const [n, row, d] = [items.length, 1 + factors, features - 1];
  const draws = mu.map((mu) => ({
    mu,
    itemBias: numbers.floats(n),
    itemFactors: numbers.rounded(n * factors, shrinking),
    precision: numbers.floats(row),
    priorWeights: numbers.floats(features * row),
    shrinkage: numbers.floats(shrinking ? n : 0),
  }));
  if (draws.some(({ precision }) => precision.some((value) => value <= 0))) {
    throw new DataError("A precision of this item model is not above 0.");
  }
  if (draws.some(({ shrinkage }) => shrinkage.some((value) => value < 0))) {
    throw new DataError("A shrinkage of this item model is below 0.");
  }
  return {
    ...{ scale, items, factors, link, sigma, draws },
    presence: presence && {
      vectors: numbers.rounded(n * d, shrinking),
      centre: numbers.floats(d),
      ...presence,
    },
  };
}
