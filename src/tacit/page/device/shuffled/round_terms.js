/**
 * Terms of the round of a shuffled task: its buckets, and for star ratings a scale and item means.
 *
 * A message about star ratings has a *sign*, so there are two buckets per item and per pair. Item i of
 * n has the bucket i with the sign -, and n + i with the sign +. The pair l < h has the bucket
 * h (h - 1) / 2 + l with the sign -, and n (n - 1) / 2 more with the sign +. The remaining buckets, at
 * the end, are unused: their counts measure the dummies.
 *
 * A task about signed pairs has the mean rating of each of its items, in thousandths. Devices subtract
 * it from their user's ratings. Means follow from counts of the first task, so they cost no epsilon.
 */

import { compare, decimal } from "../documents/decimals.js";
import { hasOneLevel } from "../documents/scale.js";

/** @typedef {import("../documents/decimals.js").Decimal} Decimal */
/** @typedef {import("../documents/scale.js").Scale} Scale */
/** @typedef {[boolean, string][]} Flaws whether a task has a flaw, and the sentence about it */

/** Buckets of a round about signed pairs that no device has. */
export const UNUSED = 300;
/** Bytes of a message before it is sealed: the number of its bucket. */
export const MESSAGE_BYTES = 5;
/** Units of item means per unit of the scale. */
export const THOUSANDTHS = 1000;
/** What the key `first` requires. */
export const FIRST_FORM =
  "a task about items is the first one, and one about pairs names its first task exactly if the " +
  "certificate covers that, too";
const ENDS = { units: 1n << 53n, places: 0 };

/**
 * Return the number of pairs of `items` items, and of decoys.
 * @param {number} items
 * @returns {number}
 */
export function pairsOf(items) {
  return (items * (items + 1)) / 2;
}

/**
 * Return the buckets of a round about pairs of `items` items.
 * @param {number} items
 * @param {boolean} signed
 * @returns {number}
 */
export function pairBucketsOf(items, signed) {
  return signed ? items * (items - 1) + UNUSED : pairsOf(items);
}

/**
 * Return the flaws of the number of buckets of a round about `items`, or about their pairs.
 * @param {number} items
 * @param {number} buckets
 * @param {boolean} aboutPairs
 * @param {boolean} signed
 * @returns {Flaws}
 */
export function bucketFlaws(items, buckets, aboutPairs, signed) {
  const fits = buckets <= 256 ** MESSAGE_BYTES;
  /** @type {Flaws} */
  const flaws = [[!fits, `a round has at most 2^40 buckets, got ${buckets}`]];
  if (aboutPairs) {
    const expected = pairBucketsOf(items, signed);
    const sentence = `a round about pairs of ${items} items has ${expected} buckets, got ${buckets}`;
    return [...flaws, [buckets !== expected, sentence]];
  }
  return [
    ...flaws,
    [buckets <= items, "a round about items has more buckets than items"],
    [
      signed && buckets <= 2 * items,
      "a round about signed items has two buckets per item, and unused ones",
    ],
  ];
}

/**
 * Return the flaws of the scale and of the means of a task with `items` items.
 * @param {Scale | null} scale
 * @param {readonly number[] | null} means
 * @param {number} items
 * @param {boolean} aboutPairs
 * @returns {Flaws}
 */
export function starFlaws(scale, means, items, aboutPairs) {
  if (scale === null) return [[means !== null, "a task without a scale has no means"]];
  const [low, high] = [thousandths(scale.levels[0]), thousandths(scale.levels.at(-1))];
  const isWithin = (/** @type {number} */ mean) => {
    const exact = { units: BigInt(mean), places: 0 };
    return compare(low, exact) <= 0 && compare(exact, high) <= 0;
  };
  const magnitudes = [{ ...low, units: -low.units }, high];
  return [
    [hasOneLevel(scale), "its scale must have several levels"],
    [
      magnitudes.some((each) => compare(each, ENDS) >= 0),
      "its scale must be below 2^53 thousandths in magnitude",
    ],
    [
      (means === null ? null : means.length) !== (aboutPairs ? items : null),
      "a task with a scale has one mean per item if it is about pairs, and else none",
    ],
    [
      !(means ?? []).every(isWithin),
      `means must be integers, thousandths within the scale ${scale.text}`,
    ],
  ];
}

/**
 * @param {string} [level]
 * @returns {Decimal}
 */
function thousandths(level = "0") {
  const { units, places } = decimal(level) ?? { units: 0n, places: 0 };
  return { units: units * BigInt(THOUSANDTHS), places };
}
