/**
 * The list model: a device uses it to rank a catalogue, given the items of its owner.
 *
 *     score_j = popularity_j + sum over the owner's items i of W_ij
 *     W = diag(own_scale) V diag(spectrum) V' diag(score_scale) + S
 *
 * V: the vectors, n x K. S: the weights of each item's neighbours. Either may be absent. The model
 * has at most 32 MiB. A device decodes only the rows that it needs.
 */

import { DataError } from "../errors.js";
import { halves, integers, parted, startsWith } from "./binary.js";
import * as modelHeader from "./model_header.js";
import { fields, parse } from "./strict.js";

// The header of a list model: the meaning and the required lengths of its arrays.

const KEYS = ["items", "factors", "neighbours", "guarantee"];
const WITH_HIDDEN = KEYS.concat(["hidden"]); // of format 2
const HEADER = "The list model's header";
const SHORT = 1 << 16; // catalogues up to this size have two-byte indices, larger ones four

/**
 * `factors`: K. `neighbours`: E of each item. If all items are neighbours, no indices are written.
 * `sizes`: bytes of popularity, ownScale, scoreScale, spectrum, vectors, places and weights.
 * @typedef {{ readonly items: (string | number)[], readonly factors: number,
 *   readonly neighbours: number, readonly hidden: readonly number[],
 *   readonly sizes: readonly number[] }} ListHeader
 */

/**
 * Parse the JSON header of format 1 or 2. Throws `DataError` if it is malformed.
 * @param {Uint8Array} text
 * @param {number} version
 * @returns {ListHeader}
 */
export function parseHeader(text, version) {
  const keys = version === 2 ? WITH_HIDDEN : KEYS;
  const known = fields(parse(text, HEADER, modelHeader.LONGEST), HEADER, keys);
  const items = modelHeader.itemIds(known, HEADER);
  const factors = modelHeader.count(known, "factors", modelHeader.MOST_FACTORS, HEADER);
  const neighbours = modelHeader.count(known, "neighbours", items.length, HEADER);
  modelHeader.guarantee(known["guarantee"], HEADER);
  const hidden = version === 2 ? modelHeader.hiddenItems(known["hidden"], items, HEADER) : [];
  return { items, factors, neighbours, hidden, sizes: sizesOf(items.length, factors, neighbours) };
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

const MAGICS = ["tacit-list-model-1\n", "tacit-list-model-2\n"];
const WHAT = "list model";

/** The maximum size of a list model in bytes. */
export const MOST_BYTES = 32 << 20;

/**
 * The factors. `ownScale`, `scoreScale`: n, for an item of the user and for a scored item.
 * `spectrum`: K. `vectors`: n x K halves, little-endian, row by row.
 * @typedef {{ readonly ownScale: Float32Array, readonly scoreScale: Float32Array,
 *   readonly spectrum: Float32Array, readonly vectors: Uint8Array }} LowRank
 */

/**
 * `count`: E, the same for every item. `places`: the indices of each item's E neighbours,
 * ascending, empty if E is n. `weights`: n x E halves, little-endian, row by row.
 * @typedef {{ readonly count: number, readonly places: Uint8Array,
 *   readonly weights: Uint8Array }} ItemNeighbours
 */

/**
 * `popularity`: n, in the order of the items. `hidden`: indices of items that no device recommends,
 * ascending. The user's own hidden items remain inputs.
 * @typedef {{ readonly items: readonly (string | number)[], readonly popularity: Float32Array,
 *   readonly lowRank: LowRank | null, readonly neighbours: ItemNeighbours | null,
 *   readonly hidden: readonly number[] }} ListModel
 */

/**
 * Return the K components of an item's vector.
 * @param {LowRank} low
 * @param {number} index
 * @returns {Float32Array}
 */
export function vector({ spectrum, vectors }, index) {
  return halves(vectors, index * spectrum.length, spectrum.length);
}

/**
 * Return the indices of an item's neighbours, and their weights.
 * @param {ListModel} model
 * @param {number} index
 * @returns {[places: Uint32Array, weights: Float32Array]}
 */
export function weightsOf({ items, neighbours }, index) {
  if (neighbours === null) return [new Uint32Array(), new Float32Array()];
  const weights = halves(neighbours.weights, index * neighbours.count, neighbours.count);
  if (neighbours.count === items.length) return [Uint32Array.from(items.keys()), weights];
  return [placesOf(neighbours, items.length, index), weights];
}

/**
 * Parse the bytes of a published list model. Throws `DataError` if they are malformed.
 * @param {import("./hashing.js").Bytes} data
 * @returns {ListModel}
 */
export function fromBytes(data) {
  if (data.length > MOST_BYTES) {
    throw new DataError(`A list model of ${data.length} bytes is larger than ${MOST_BYTES}.`);
  }
  const version = Math.max(1 + MAGICS.findIndex((magic) => startsWith(magic, data)), 1);
  const [text, numbers] = parted(MAGICS[version - 1] ?? "", data, WHAT);
  const { items, factors, neighbours: E, hidden, sizes } = parseHeader(text, version);
  numbers.require(sizes.reduce((sum, size) => sum + size, 0));
  const n = items.length;
  const popularity = numbers.floats(n);
  const lowRank =
    factors === 0
      ? null
      : {
          ownScale: numbers.floats(n),
          scoreScale: numbers.floats(n),
          spectrum: numbers.floats(factors),
          vectors: numbers.halves(n * factors),
        };
  const places = numbers.take(sizes.at(-2) ?? 0);
  const neighbours = E === 0 ? null : { count: E, places, weights: numbers.halves(n * E) };
  if (neighbours !== null && E < n) refuseDisorder(neighbours, n);
  return { items, popularity, lowRank, neighbours, hidden };
}

/**
 * Return whether these are the bytes of a list model, well-formed or not.
 * @param {Uint8Array} data
 * @returns {boolean}
 */
export function isListModel(data) {
  return MAGICS.some((magic) => startsWith(magic, data));
}

/**
 * @param {ItemNeighbours} neighbours
 * @param {number} n
 * @param {number} index
 */
function placesOf({ count, places }, n, index) {
  return integers(places, index * count, count, placeBytes(n));
}

/**
 * @param {ItemNeighbours} neighbours
 * @param {number} n
 */
function refuseDisorder(neighbours, n) {
  for (let index = 0; index < n; index++) {
    const row = placesOf(neighbours, n, index);
    const inOrder = row.every((each, k) => each < (row[k + 1] ?? n));
    if (!inOrder) {
      throw new DataError("Neighbours of this list model are out of range, or out of order.");
    }
  }
}
