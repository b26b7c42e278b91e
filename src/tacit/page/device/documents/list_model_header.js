/** The header of a list model: what its arrays mean, and how long they have to be. */

import * as modelHeader from "./model_header.js";
import { fields, parse } from "./strict.js";

const KEYS = ["items", "factors", "neighbours", "guarantee"];
const WHAT = "The list model's header";
const SHORT = 1 << 16; // items whose places two bytes can number; more take four

/**
 * `factors`: K. `neighbours`: E of each item; where all are, no places are written. `sizes`: bytes of
 * popularity, ownScale, scoreScale, spectrum, vectors, places and weights.
 * @typedef {{ readonly items: (string | number)[], readonly factors: number,
 *   readonly neighbours: number, readonly sizes: readonly number[] }} ListHeader
 */

/**
 * The header in that JSON; throws `DataError` for what is none.
 * @param {Uint8Array} text
 * @returns {ListHeader}
 */
export function loads(text) {
  const known = fields(parse(text, WHAT, modelHeader.LONGEST), WHAT, KEYS);
  const items = modelHeader.itemIds(known, WHAT);
  const factors = modelHeader.count(known, "factors", modelHeader.MOST_FACTORS, WHAT);
  const neighbours = modelHeader.count(known, "neighbours", items.length, WHAT);
  modelHeader.guarantee(known["guarantee"], WHAT);
  return { items, factors, neighbours, sizes: sizesOf(items.length, factors, neighbours) };
}

/**
 * How many bytes a place among n items is written in.
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
