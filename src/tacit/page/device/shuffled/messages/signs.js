/**
 * Signs of a device's messages about star ratings: drawn for items, computed for pairs.
 *
 * The sign of an item is + with the probability k / (L - 1) for level k of L, counted from 0, so its
 * mean is the rating on a scale from -1 to 1. The sign of a pair is that of the product of its
 * residuals, and - for a product of 0. A rating of one of the m items of the task that the user has
 * rated deviates by d from the item's mean in the task. The pair (i, j) has the residuals
 *
 *     d_i - l and d_j - l,    l = sum over k other than i and j of d_k / (m - 2 + PRIOR)
 *
 * with the user's level l, damped by PRIOR ratings without a deviation. It is that on all other items:
 * a level that contained d_i or d_j would lower the product by about 1 / m of their variance.
 * Multiplied by m - 2 + PRIOR and a power of ten, residuals are integers: all devices compute the same
 * signs.
 *
 * Each item and each pair has one bucket of two, so the own buckets of a device are distinct, as the
 * bound of the certificate requires. It holds for every outcome of the signs, and by joint convexity
 * for their mixture: signs may depend on ratings in any way.
 */

import { decimal, scaled } from "../../documents/decimals.js";
import { levelOf } from "../../documents/scale.js";
import { RequestError } from "../../errors.js";
import { THOUSANDTHS } from "../round_terms.js";
import { ITEMS } from "../task.js";
import { below, completed, sampled, sampledPairs, secretWords } from "./bundle.js";

/** @typedef {import("../../answering/draw.js").Words} Words */
/** @typedef {import("../../documents/scale.js").Scale} Scale */
/** @typedef {Pick<import("../task.js").ShuffledTask, "items" | "about" | "round" | "means">} RatedTask */
/** @typedef {string | number} Item */
/** @typedef {string | number} Rating */
/** @typedef {Iterable<Item> | ReadonlyMap<Item, Rating>} OwnItems item ids, or ratings by item id */

/** Ratings that damp a user's level. */
export const PRIOR = 5;

/**
 * Return a copy of a user's items: ids, or for a `Map` and a plain object ratings by item id. Throws
 * `RequestError` for another value.
 * @param {import("../client.js").OwnItems} items
 * @returns {Item[] | Map<Item, Rating>}
 */
export function ownItems(items) {
  // By its tag: a Map of another frame is one, too, and other objects with a tag are refused.
  const kind = Object.prototype.toString.call(items);
  if (kind === "[object Map]") return new Map(/** @type {Map<Item, Rating>} */ (items));
  if (typeof items === "object" && Symbol.iterator in (items ?? {}))
    return [.../** @type {Iterable<Item>} */ (items)];
  if (kind === "[object Object]") return new Map(Object.entries(items));
  throw new RequestError(
    "items must be a collection of item ids, as in [17, 42], or ratings by item id, as in " +
      `{ 17: "4" }, got ${items === null ? "null" : `one ${typeof items}`}.`,
  );
}

/**
 * Return whether these are ratings by item id.
 * @param {OwnItems} items
 * @returns {items is ReadonlyMap<Item, Rating>}
 */
export function areRatings(items) {
  return items instanceof Map;
}

/**
 * Throw `RequestError` unless `items` are ratings exactly if the task has a scale.
 * @param {Pick<import("../task.js").ShuffledTask, "scale">} task
 * @param {OwnItems} items
 */
export function checkKind(task, items) {
  if (areRatings(items) === (task.scale !== null)) return;
  throw new RequestError(
    task.scale === null
      ? "The task is about items; pass a collection of ids, as in [17, 42]."
      : `The task is about ratings on the scale ${task.scale.text}; pass ratings by item id, as in ` +
          '{ 17: "4" }.',
  );
}

/**
 * Return the messages of one device to a task about star ratings, in random order. Their number does
 * not depend on the ratings. Throws `RequestError`, before any draw, for a rating off the scale, and
 * for two ratings of an item.
 * @param {RatedTask} task
 * @param {Scale} scale of the task
 * @param {ReadonlyMap<Item, Rating>} ratings those of items that are not in the task are omitted
 * @param {Words} [words] replaced in tests only
 * @returns {number[]}
 */
export function signedBundle(task, scale, ratings, words = secretWords()) {
  const levels = levelsOf(task, scale, ratings);
  const draw = task.about === ITEMS ? signedItems : signedPairs;
  return completed(draw(task, scale, levels, words), task.round, words);
}

/**
 * Return the level of each rated item of the task by the item's index, in ascending order. Throws
 * `RequestError` as `signedBundle`.
 * @param {Pick<RatedTask, "items">} task
 * @param {Scale} scale
 * @param {ReadonlyMap<Item, Rating>} ratings
 * @returns {Map<number, number>}
 */
export function levelsOf(task, scale, ratings) {
  const indices = new Map(task.items.map((item, index) => [String(item), index]));
  const known = [...ratings].flatMap(([item, rating]) => {
    const index = indices.get(String(item));
    return index === undefined ? [] : [/** @type {const} */ ([index, levelOf(scale, rating)])];
  });
  const levels = new Map(known.sort(([a], [b]) => a - b));
  // One sign per item: two messages about it would have two ratings' signs.
  if (levels.size < known.length)
    throw new RequestError("ratings contain an item twice, as a number and as a string.");
  return levels;
}

/**
 * Draw at most M rated items of a task, then a sign for each. Returns their buckets.
 * @param {Pick<RatedTask, "items" | "round">} task
 * @param {Scale} scale
 * @param {ReadonlyMap<number, number>} levels by index of the item, in ascending order
 * @param {Words} words
 * @returns {number[]}
 */
export function signedItems(task, scale, levels, words) {
  const chosen = sampled([...levels], task.round.messages, words);
  const steps = scale.levels.length - 1;
  // Exact, from secret words. Drawn once per task: signs of many draws would average to the rating.
  // The bound of the bundle covers one sign of any law, and which words are redrawn does not depend
  // on the rating.
  return chosen.map(([item, level]) => item + task.items.length * Number(below(steps, words) < level));
}

/**
 * Draw at most M pairs of the rated items of a task. Returns their buckets, each with its sign.
 * @param {Pick<RatedTask, "items" | "round" | "means">} task
 * @param {Scale} scale
 * @param {ReadonlyMap<number, number>} levels by index of the item, in ascending order
 * @param {Words} words
 * @returns {number[]}
 */
export function signedPairs(task, scale, levels, words) {
  const rated = [...deviations(task, scale, levels)];
  const total = rated.reduce((sum, [, each]) => sum + each, 0n);
  const count = BigInt(rated.length - 2 + PRIOR);
  const pairs = (task.items.length * (task.items.length - 1)) / 2;
  return sampledPairs(rated, task.round.messages, words).map(([[high, one], [low, other]]) => {
    // Whether the product of the residuals is positive, which are times `count`.
    const level = total - one - other;
    const isPositive = (one * count - level) * (other * count - level) > 0n;
    return (high * (high - 1)) / 2 + low + pairs * Number(isPositive);
  });
}

/**
 * Return the deviation of each rated item from its mean, times a positive constant.
 * @param {Pick<RatedTask, "means">} task
 * @param {Scale} scale
 * @param {ReadonlyMap<number, number>} levels
 * @returns {Map<number, bigint>}
 */
export function deviations({ means }, scale, levels) {
  const rated = [...levels].map(([index, level]) => ({
    index,
    rating: decimal(scale.levels[level] ?? "") ?? { units: 0n, places: 0 },
    mean: BigInt(means?.[index] ?? NaN),
  }));
  const places = Math.max(0, ...rated.map(({ rating }) => rating.places));
  const [unit, thousand] = [10n ** BigInt(places), BigInt(THOUSANDTHS)];
  return new Map(
    rated.map(({ index, rating, mean }) => [index, thousand * scaled(rating, places) - unit * mean]),
  );
}
