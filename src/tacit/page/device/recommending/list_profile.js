/**
 * On-device top-N recommendation from a list model and the user's true items.
 *
 * All sums are in double precision and in index order, so that the Python implementation returns
 * the same digits.
 */

import { integer, mustHave } from "../arguments.js";
import { RequestError } from "../errors.js";
import { vector, weightsOf } from "../documents/list_model.js";
import { requireKnown } from "./profile.js";

/** @typedef {import("../documents/item_model.js").Item} Item */
/** @typedef {import("../documents/list_model.js").ListModel} ListModel */

/** A user's profile: a list model and the user's items, by raw id, without ratings. */
export class ListProfile {
  #items;
  #hidden;
  #own;

  /**
   * Ids are matched as strings. Items outside the model are ignored. Throws `RequestError` for
   * another kind of model, if `ownItems` is not a list of ids, and if all are outside the model.
   * @param {ListModel} model
   * @param {Iterable<Item>} ownItems
   */
  constructor(model, ownItems) {
    const remedy = "pass what fetchModel returned, and an item model to Profile";
    mustHave(["popularity", "items"], model, "a list model", remedy);
    if (typeof ownItems === "string" || !(Symbol.iterator in Object(ownItems)))
      throw new RequestError("Expected a list of item ids; pass an array, as in [7, 12].");
    const places = new Map(model.items.map((item, place) => [String(item), place]));
    this.#items = model.items;
    this.#hidden = model.hidden;
    const own = [...ownItems];
    this.#own = knownPlaces(places, own);
    requireKnown(own.length, this.#own.length);
    /** Scores of all items of the model, in its order. As confidential as the user's items. */
    this.scores = Float64Array.from(model.popularity);
    if (model.lowRank !== null) this.#addFactors(model.lowRank);
    this.#addNeighbours(model);
  }

  /**
   * Return the n best items that are neither the user's nor hidden, with scores, best first. Ties are in
   * the model's item order. Scores are for ranking only and are not ratings. A user without items
   * gets an empty list from a model without popularity, which scores all items alike. Throws
   * `RequestError` for another n than an integer of at least 0.
   * @param {number} [n]
   * @returns {{ item: Item, score: number }[]}
   */
  recommend(n = 10) {
    integer("n", n, 0);
    if (this.#own.length === 0 && this.scores.every((score) => score === 0)) return [];
    const excluded = new Set([...this.#own, ...this.#hidden]);
    return this.#items
      .map((item, place) => ({ item, place }))
      .filter(({ place }) => !excluded.has(place))
      .map(({ item, place }) => ({ item, score: this.scores[place] ?? NaN }))
      .sort((a, b) => b.score - a.score)
      .slice(0, n);
  }

  /** @param {import("../documents/list_model.js").LowRank} low */
  #addFactors(low) {
    const taste = new Float64Array(low.spectrum.length);
    for (const i of this.#own) {
      const scale = low.ownScale[i] ?? NaN;
      vector(low, i).forEach((v, k) => (taste[k] = (taste[k] ?? NaN) + scale * v));
    }
    low.spectrum.forEach((each, k) => (taste[k] = (taste[k] ?? NaN) * each));
    low.scoreScale.forEach((scale, j) => this.#add(j, scale * dot(vector(low, j), taste)));
  }

  /** @param {ListModel} model */
  #addNeighbours(model) {
    for (const i of this.#own) {
      const [places, weights] = weightsOf(model, i);
      weights.forEach((weight, k) => this.#add(places[k] ?? NaN, weight));
    }
  }

  /**
   * @param {number} place
   * @param {number} more
   */
  #add(place, more) {
    this.scores[place] = (this.scores[place] ?? NaN) + more;
  }
}

/**
 * @param {Float32Array} a
 * @param {Float64Array} b
 */
function dot(a, b) {
  let total = 0;
  for (let k = 0; k < a.length; k++) total += (a[k] ?? NaN) * (b[k] ?? NaN);
  return total;
}

/**
 * Return the distinct indices of known items, ascending: results do not depend on the input order.
 * @param {ReadonlyMap<string, number>} places
 * @param {Iterable<Item>} items
 * @returns {number[]}
 */
function knownPlaces(places, items) {
  const ids = new Set(Array.from(items, String));
  return [...ids].flatMap((item) => places.get(item) ?? []).sort((a, b) => a - b);
}
