/** The header of a list model: the meaning and the required lengths of its arrays. */

import * as modelHeader from "./model_header.js";
import { fields, parse } from "./strict.js";

const KEYS = ["items", "factors", "neighbours", "guarantee"];
const WHAT = "The list model's header";
const SHORT = 1 << 16; // catalogues up to this size have two-byte indices, larger ones four

/**
 * `factors`: K. `neighbours`: E of each item. If all items are neighbours, no indices are written.
 * `sizes`: bytes of popularity, ownScale, scoreScale, spectrum, vectors, places and weights.
 * @typedef {{ readonly items: (string | number)[], readonly factors: number,
 *   readonly neighbours: number, readonly sizes: readonly number[] }} ListHeader
 */

/**
 * Parse the JSON header. Throws `DataError` if it is malformed.
 * @param {Uint8Array} text
 * @returns {ListHeader}
 */
export function parseHeader(text) {
  const known = fields(parse(text, WHAT, modelHeader.LONGEST), WHAT, KEYS);
  const items = modelHeader.itemIds(known, WHAT);
  const factors = modelHeader.count(known, "factors", modelHeader.MOST_FACTORS, WHAT);
  const neighbours = modelHeader.count(known, "neighbours", items.length, WHAT);
  modelHeader.guarantee(known["guarantee"], WHAT);
  return { items, factors, neighbours, sizes: sizesOf(items.length, factors, neighbours) };
}

/**
 * Return the number of bytes of an index among n items.
 * @param {number} n
 * @returns {number}
 */
export function placeBytes(n) {
  return n <= SHORT ? 2 : 4;
}

/**
 * @param {number} n
 * @param {number} K
 * @param {number} E
 */
function sizesOf(n, K, E) {
  const scale = K > 0 ? 4 * n : 0;
  const places = E < n ? n * E * placeBytes(n) : 0;
  return [4 * n, scale, scale, 4 * K, 2 * n * K, places, 2 * n * E];
}
