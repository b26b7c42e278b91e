/**
 * Exposure in an item model: how likely a user is to interact with each item.
 *
 *     score_j = popularity_j + sum_k spectrum_k (sum over the user's items i of c(v_ik)) c(v_jk)
 *     c(v) = v |v|,    v an integer from -127 to 127
 *
 * A ranking multiplies scores above zero by the position of the predicted rating on the scale: the
 * expected gain of showing an item.
 */

/** @typedef {import("../documents/item_model.js").ItemExposure} ItemExposure */

/**
 * Return the scores of all items for a user with the `rated` items, by index. Sums are of doubles, in
 * the order of `rated` and of directions.
 * @param {ItemExposure} exposure
 * @param {readonly number[]} rated
 * @param {number} items
 * @returns {number[]}
 */
export function scores({ popularity, spectrum, vectors }, rated, items) {
  const K = spectrum.length;
  const taste = Array.from(spectrum, (each, k) => {
    const sum = rated.reduce((total, i) => total + curve(vectors[i * K + k] ?? NaN), 0);
    return sum * each;
  });
  return Array.from({ length: items }, (_, j) => {
    const total = taste.reduce((sum, t, k) => sum + t * curve(vectors[j * K + k] ?? NaN), 0);
    return (popularity[j] ?? 0) + total;
  });
}

/** @param {number} v */
function curve(v) {
  return v * Math.abs(v);
}
