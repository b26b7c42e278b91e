/**
 * The item model: published by a provider and downloaded by devices.
 *
 *     theta_ui = mu + x_u[0] + item_bias_i + x_u[1:] . item_factors_i
 *     x_u ~ N(prior, 1 / precision)
 *
 * for each of 1 to 32 draws. A prediction is the mean over draws of the link. Format 2 has a
 * shrinkage: every own rating adds the shrinkage of its item to the precision of x_u[1:]. Its
 * factors and vectors are halves. Format 3 is either format with an exposure, and format 4 any of
 * them with hidden items.
 *
 * A cross-domain model has a target: it recommends the last items alone, and predicts their median
 * level, which is as many levels above the lowest as cuts lie at or below the mean prediction.
 */

import { DataError } from "../errors.js";
import { parted, startsWith } from "./binary.js";
import { MOST_ITEMS } from "./catalogue.js";
import {
  count,
  guarantee,
  hiddenItems,
  itemIds,
  LONGEST,
  MOST_FACTORS,
  one,
} from "./model_header.js";
import * as ratingScale from "./scale.js";
import { fields, integral, listed, parse, real, text as wellFormed } from "./strict.js";

// The header of an item model: the meaning and the required lengths of its arrays.

const KEYS = ["scale", "items", "factors", "link", "sigma", "mu", "features"].concat([
  "presence",
  "guarantee",
]);
const WITH_EXPOSURE = KEYS.concat(["shrinking", "exposure"]); // of format 3
const WITH_HIDDEN = WITH_EXPOSURE.concat(["hidden"]); // of format 4, whose exposure may be null
const EXPOSURE = ["directions", "popularity"];
const PRESENCE = ["log_mean", "log_scale", "damping"];
const TARGET = ["first", "cuts"];
const TITLES = ["titles"]; // or left out
const MOST_DRAWS = 32;
const MOST_CUTS = 1 << 10;
const WHAT = "The item model's header";

/**
 * `shrinking`: whether factors and vectors are halves and items have a shrinkage. `directions`: of
 * the exposure, K. `popularity`: whether items have popularities. `size`: the required number of
 * bytes after the header.
 * @typedef {{ readonly scale: import("./scale.js").Scale, readonly items: (string | number)[],
 *   readonly factors: number, readonly link: "linear" | "cells", readonly sigma: number,
 *   readonly mu: number[], readonly features: number,
 *   readonly shrinking: boolean,
 *   readonly exposure: { readonly directions: number, readonly popularity: boolean } | null,
 *   readonly presence: { readonly logMean: number, readonly logScale: number,
 *     readonly damping: number } | null,
 *   readonly target: ItemTarget | null, readonly hidden: readonly number[],
 *   readonly size: number }} Header
 */

/**
 * The target domain of a cross-domain model: its items are those from the index `first` on. `cuts`:
 * mean predictions from which on the median rating is a level higher; empty to predict means.
 * `titles`: of the target items, which no task of a source has; empty without titles.
 * @typedef {{ readonly first: number, readonly cuts: readonly number[],
 *   readonly titles: readonly string[] }} ItemTarget
 */

/**
 * Parse the JSON header of format 1 to 4. Throws `DataError` if it is malformed.
 * @param {Uint8Array} text
 * @param {number} version
 * @returns {Header}
 */
export function parseHeader(text, version) {
  const keys = [KEYS, KEYS, WITH_EXPOSURE, WITH_HIDDEN][version - 1] ?? KEYS;
  const known = fields(parse(text, WHAT, LONGEST), WHAT, keys, ["target"]);
  const items = itemIds(known, WHAT);
  const factors = count(known, "factors", MOST_FACTORS, WHAT);
  const features = one(known, "features", integral, WHAT);
  const mu = listed(known["mu"], "mu", real, WHAT, MOST_DRAWS);
  const presence = presenceOf(known["presence"]);
  const target = known["target"] === undefined ? null : targetOf(known["target"]);
  const scale = ratingScale.parse(one(known, "scale", wellFormed, WHAT));
  const shrinking = version >= 3 ? one(known, "shrinking", flag, WHAT) : version === 2;
  const exposure = version >= 3 ? exposureOf(known["exposure"], version) : null;
  const hidden = version === 4 ? hiddenItems(known["hidden"], items, WHAT) : [];
  const arrays = { items, factors, features, mu, presence, shrinking, exposure };
  const header = {
    ...{ ...arrays, scale, target, hidden },
    link: one(known, "link", linkOf, WHAT),
    sigma: one(known, "sigma", real, WHAT),
    size: sizeOf(arrays),
  };
  guarantee(known["guarantee"], WHAT);
  const wrong = [...flaws(header), ...targetFlaws(header)].find(([found]) => found);
  if (wrong) throw new DataError(`${WHAT} is malformed: ${wrong[1]}.`);
  return header;
}

/** @param {Omit<Header, "scale" | "link" | "sigma" | "size" | "target" | "hidden">} header */
function sizeOf({ items, factors, features, mu, presence, shrinking, exposure }) {
  const [n, row, d, wide] = [items.length, 1 + factors, features - 1, shrinking ? 2 : 4];
  const singles = n + row + features * row + (shrinking ? n : 0);
  const drawn = mu.length * (wide * n * factors + 4 * singles);
  const presenceSize = presence === null ? 0 : (wide * n + 4) * d;
  return drawn + presenceSize + (exposure === null ? 0 : sizeOfExposure(n, exposure));
}

/**
 * @param {Omit<Header, "size">} header
 * @returns {[boolean, string][]}
 */
function flaws({ scale, link, sigma, mu, features, presence }) {
  const [least, most] = presence === null ? [0, 0] : [1, MOST_FACTORS];
  return [
    [
      ratingScale.hasOneLevel(scale),
      `a rating scale must have at least two levels, got ${scale.text}`,
    ],
    [mu.length === 0, `it must have 1 to ${MOST_DRAWS} draws`],
    [
      sigma < 0 || sigma > 0 !== (link === "cells"),
      "sigma must be above 0 for the link cells, and 0 for the link linear",
    ],
    [features < least || features > most, "its number of features does not match its presence"],
    [
      presence !== null && (presence.logScale <= 0 || presence.damping < 0),
      "log_scale must be above 0, and damping 0 or more",
    ],
  ];
}

/**
 * @param {Header} header
 * @returns {[boolean, string][]}
 */
function targetFlaws({ items, scale, target }) {
  if (target === null) return [];
  const { first, cuts, titles } = target;
  return [
    [
      first <= 0 || first >= items.length,
      "a target domain must leave at least one item to it and to the sources",
    ],
    [
      cuts.length !== 0 && cuts.length !== scale.values.length - 1,
      "it must have a cut per level but the lowest, or none",
    ],
    [cuts.some((cut, k) => cut < (cuts[k - 1] ?? cut)), "its cuts must not decrease"],
    [
      titles.length !== 0 && titles.length !== items.length - first,
      "it must have a title per target item, or none",
    ],
  ];
}

/** @param {unknown} value */
function targetOf(value) {
  const known = fields(value, `${WHAT}'s target`, TARGET, TITLES);
  const titles = known["titles"] === undefined ? [] : known["titles"];
  return {
    first: one(known, "first", integral, WHAT),
    cuts: listed(known["cuts"], "cuts", real, WHAT, MOST_CUTS),
    titles: listed(titles, "titles", wellFormed, WHAT, MOST_ITEMS),
  };
}

/** @param {unknown} value */
function presenceOf(value) {
  if (value === null) return null;
  const known = fields(value, `${WHAT}'s presence`, PRESENCE);
  return {
    logMean: one(known, "log_mean", real, WHAT),
    logScale: one(known, "log_scale", real, WHAT),
    damping: one(known, "damping", real, WHAT),
  };
}

/**
 * @param {unknown} value
 * @returns {"linear" | "cells" | undefined}
 */
function linkOf(value) {
  return value === "linear" || value === "cells" ? value : undefined;
}

/**
 * @param {unknown} value
 * @param {number} version
 */
function exposureOf(value, version) {
  if (value === null && version === 4) return null;
  const what = `${WHAT}'s exposure`;
  const known = fields(value, what, EXPOSURE);
  const directions = count(known, "directions", MOST_FACTORS, what);
  return { directions, popularity: one(known, "popularity", flag, what) };
}

/**
 * @param {unknown} value
 * @returns {boolean | undefined}
 */
function flag(value) {
  return typeof value === "boolean" ? value : undefined;
}

/**
 * @param {number} items
 * @param {{ readonly directions: number, readonly popularity: boolean }} shape
 */
function sizeOfExposure(items, { directions, popularity }) {
  return (popularity ? 4 * items : 0) + 4 * directions + items * directions;
}

const MAGICS = [1, 2, 3, 4].map((version) => `tacit-item-model-${version}\n`);

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
 * `popularity`: n, or empty for zero. `spectrum`: K. `vectors`: n x K, row by row.
 * @typedef {{ readonly popularity: Float32Array, readonly spectrum: Float32Array,
 *   readonly vectors: Int8Array }} ItemExposure
 */

/**
 * `hidden`: indices of items that no device recommends, ascending. Ratings of them remain inputs.
 * @typedef {{ readonly scale: import("./scale.js").Scale, readonly items: readonly Item[],
 *   readonly factors: number, readonly link: "linear" | "cells", readonly sigma: number,
 *   readonly draws: readonly ItemDraw[], readonly presence: ItemPresence | null,
 *   readonly exposure: ItemExposure | null, readonly target: ItemTarget | null,
 *   readonly hidden: readonly number[] }} ItemModel
 */

/**
 * Parse the bytes of a published item model. Throws `DataError` if they are malformed.
 * @param {import("./hashing.js").Bytes} data
 * @returns {ItemModel}
 */
export function fromBytes(data) {
  const version = Math.max(1 + MAGICS.findIndex((magic) => startsWith(magic, data)), 1);
  const [text, numbers] = parted(MAGICS[version - 1] ?? "", data, "item model");
  const header = parseHeader(text, version);
  numbers.require(header.size);
  const { items, factors, features, presence, exposure, shrinking } = header;
  const { mu, scale, link, sigma, target, hidden } = header;
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
    throw new DataError("Precisions of an item model must be above 0.");
  }
  if (draws.some(({ shrinkage }) => shrinkage.some((value) => value < 0))) {
    throw new DataError("Shrinkages of an item model must be at least 0.");
  }
  return {
    ...{ scale, items, factors, link, sigma, draws, target, hidden },
    presence: presence && {
      vectors: numbers.rounded(n * d, shrinking),
      centre: numbers.floats(d),
      ...presence,
    },
    exposure: exposure && {
      popularity: numbers.floats(exposure.popularity ? n : 0),
      spectrum: numbers.floats(exposure.directions),
      vectors: new Int8Array(numbers.take(n * exposure.directions)),
    },
  };
}
