/**
 * On-device fold-in: one user's row, solved from the true ratings, which never leave the device.
 *
 * Maximises  sum_i log Pr(rating_i | theta_ui) - (x - prior)' diag(precision) (x - prior) / 2.
 * Linear link: one ridge solve. Cells link: working targets E[theta + sigma e | rating] with
 * constant weight 1 / sigma^2, an ascent without step sizes. If the model has a shrinkage, that of
 * every rated item is added to the precision of the factors.
 */

import { erfc } from "./erfc.js";

/** @typedef {import("../documents/item_model.js").ItemDraw} ItemDraw */
/** @typedef {number[]} Row */
/** @typedef {readonly (readonly [place: number, rating: number])[]} Known */

const ROUNDS = 8; // iterations of the cells link, each of which reduces the error several-fold

/**
 * Return mu + x[0] + item_bias + x[1:] . item_factors. Without an item, the user's mean, mu + x[0].
 * @param {ItemDraw} draw
 * @param {Row} x
 * @param {number | undefined} index
 * @returns {number}
 */
export function theta(draw, x, index) {
  const level = draw.mu + at(x, 0);
  if (index === undefined) return level;
  const K = x.length - 1;
  let total = level + at(draw.itemBias, index);
  for (let k = 0; k < K; k++) total += at(x, 1 + k) * at(draw.itemFactors, index * K + k);
  return total;
}

/**
 * Solve the row under the linear link, whose noise has unit variance.
 * @param {ItemDraw} draw
 * @param {Known} known
 * @param {Row} prior
 * @returns {Row}
 */
export function linearRow(draw, known, prior) {
  return climb(draw, known, prior, 1, 1, (taste, rating) => rating - taste);
}

/**
 * Solve the row under the cells link.
 * @param {ItemDraw} draw
 * @param {Known} known
 * @param {Row} prior
 * @param {readonly number[]} levels
 * @param {number} sigma
 * @returns {Row}
 */
export function ordinalRow(draw, known, prior, levels, sigma) {
  return climb(draw, known, prior, 1 / sigma ** 2, ROUNDS, (taste, rating) =>
    levelScore(taste, rating, levels, sigma),
  );
}

/**
 * Return E[rating | theta] = top - sum_k (g_k+1 - g_k) Phi((c_k - theta) / sigma), with midpoints
 * c_k.
 * @param {number} taste
 * @param {readonly number[]} levels
 * @param {number} sigma
 * @returns {number}
 */
export function expected(taste, levels, sigma) {
  let total = at(levels, levels.length - 1);
  for (let k = 1; k < levels.length; k++) {
    const [low, high] = [at(levels, k - 1), at(levels, k)];
    total -= (high - low) * mass(((low + high) / 2 - taste) / sigma);
  }
  return total;
}

/**
 * Return d log Pr(rating | theta) / d theta. The outermost cells are unbounded.
 * @param {number} taste
 * @param {number} rating
 * @param {readonly number[]} levels
 * @param {number} sigma
 * @returns {number}
 */
function levelScore(taste, rating, levels, sigma) {
  const [lowest, highest] = [at(levels, 0), at(levels, levels.length - 1)];
  const half = (highest - lowest) / (levels.length - 1) / 2;
  const [low, high] = [(rating - half - taste) / sigma, (rating + half - taste) / sigma];
  const [below, rise] = rating === lowest ? [0, 0] : [mass(low), density(low)];
  const [above, fall] = rating === highest ? [1, 0] : [mass(high), density(high)];
  return (rise - fall) / (sigma * Math.max(above - below, 1e-12));
}

/**
 * @param {ItemDraw} draw
 * @param {Known} known
 * @param {Row} prior
 * @param {number} weight
 * @param {number} rounds
 * @param {(taste: number, rating: number) => number} score
 * @returns {Row}
 */
function climb(draw, known, prior, weight, rounds, score) {
  const K = prior.length - 1;
  const designs = known.map(([place]) => [
    1,
    ...draw.itemFactors.subarray(place * K, (place + 1) * K),
  ]);
  const precision = precisionOf(draw, known);
  const L = cholesky(gram(designs, precision, weight));
  let x = [...prior];
  for (let round = 0; round < rounds; round++) {
    const step = x.map((value, k) => -at(precision, k) * (value - at(prior, k)));
    for (const [row, [place, rating]] of known.entries()) {
      const pull = score(theta(draw, x, place), rating);
      designs[row]?.forEach((value, k) => (step[k] = at(step, k) + pull * value));
    }
    const move = solved(L, step);
    x = x.map((value, k) => value + at(move, k));
  }
  return x;
}

/**
 * @param {ItemDraw} draw
 * @param {Known} known
 * @returns {Row}
 */
function precisionOf(draw, known) {
  if (draw.shrinkage.length === 0) return [...draw.precision];
  const more = known.reduce((sum, [place]) => sum + at(draw.shrinkage, place), 0);
  return Array.from(draw.precision, (value, k) => (k === 0 ? value : value + more));
}

/**
 * Return the lower triangle of diag(precision) + weight designs' designs.
 * @param {readonly Row[]} designs
 * @param {Row} precision
 * @param {number} weight
 * @returns {Row[]}
 */
function gram(designs, precision, weight) {
  const H = Array.from(precision, (value, k) =>
    Array.from({ length: k + 1 }, (_, j) => (j === k ? value : 0)),
  );
  for (const design of designs) {
    H.forEach((row, k) =>
      row.forEach((value, j) => (row[j] = value + weight * at(design, k) * at(design, j))),
    );
  }
  return H;
}

/**
 * Factorize H in place: the lower triangle L with L L' = H.
 * @param {Row[]} H
 * @returns {Row[]}
 */
function cholesky(H) {
  for (const [k, row] of H.entries()) {
    for (const [j, other] of H.slice(0, k + 1).entries()) {
      let total = at(row, j);
      for (let c = 0; c < j; c++) total -= at(row, c) * at(other, c);
      row[j] = j === k ? Math.sqrt(total) : total / at(other, j);
    }
  }
  return H;
}

/**
 * Solve L L' x = b.
 * @param {readonly Row[]} L
 * @param {Row} b
 * @returns {Row}
 */
function solved(L, b) {
  const x = [...b];
  L.forEach((row, k) => {
    for (let j = 0; j < k; j++) x[k] = at(x, k) - at(row, j) * at(x, j);
    x[k] = at(x, k) / at(row, k);
  });
  L.toReversed().forEach((row, back) => {
    const k = L.length - 1 - back;
    x[k] = at(x, k) / at(row, k);
    for (let j = 0; j < k; j++) x[j] = at(x, j) - at(row, j) * at(x, k);
  });
  return x;
}

/** @param {number} z */
function mass(z) {
  return 0.5 * erfc(-z / Math.SQRT2);
}

/** @param {number} z */
function density(z) {
  return Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
}

/**
 * Return an element of an array, or NaN outside it.
 * @param {ArrayLike<number>} numbers
 * @param {number} index
 * @returns {number}
 */
function at(numbers, index) {
  return numbers[index] ?? NaN;
}
