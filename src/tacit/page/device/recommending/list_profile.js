/**
 * The last step of a list, at home: what a person would meet next, from what they truly have.
 *
 * Every sum is of doubles, in the order of places, so that Python's twin comes to the same digits.
 */

import { vector, weightsOf } from "../documents/list_model.js";
import { requireKnown } from "./profile.js";

/** @typedef {import("../documents/item_model.js").Item} Item */
/** @typedef {import("../documents/list_model.js").ListModel} ListModel */
/** @typedef {import("./profile.js").Profile} Profile */

/** One person: a list model and their own items, by raw id, whatever they thought of them. */
export class ListProfile {
  #items;
  #own;

  /**
   * Items that the model does not know are left out. Throws `RequestError` where it knows none.
   * @param {ListModel} model
   * @param {Iterable<Item>} ownItems
   */
  constructor(model, ownItems) {
    const places = new Map(model.items.map((item, place) => [item, place]));
    this.#items = model.items;
    const own = [...ownItems];
    this.#own = knownPlaces(places, own);
    requireKnown(own.length, this.#own.length);
    /** One for each of the model's items, in its order, own ones too; as secret as the items. */
    this.scores = Float64Array.from(model.popularity);
    if (model.lowRank !== null) this.#addFactors(model.lowRank);
    this.#addNeighbours(model);
  }

  /**
   * The n best items that are not the person's own, with their scores, best first, ties in the
   * model's item order. Scores order items; they are no ratings. A user without items gets an empty
   * list from a model without popularity, which scores all items alike.
   *
   * `stars`: what the same person would rate them. Then a score above zero is multiplied by how far
   * up the scale that is: what they would meet *and* like.
   * @param {number} [n]
   * @param {Profile | null} [stars]
   * @returns {{ item: Item, score: number }[]}
   */
  recommend(n = 10, stars = null) {
    if (this.#own.length === 0 && this.scores.every((score) => score === 0)) return [];
    const own = new Set(this.#own);
    return this.#items
      .map((item, place) => ({ item, place }))
      .filter(({ place }) => !own.has(place))
      .map(({ item, place }) => ({ item, score: this.#score(item, place, stars) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, n);
  }

  /** @param {Item} item @param {number} place @param {Profile | null} stars */
  #score(item, place, stars) {
    const score = this.scores[place] ?? NaN;
    return stars === null || score <= 0 ? score : score * stars.gain(item);
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
 * Each once, and sorted, so that the order in which the person came by them changes no digit.
 * @param {ReadonlyMap<Item, number>} places
 * @param {Iterable<Item>} items
 * @returns {number[]}
 */
function knownPlaces(places, items) {
  return [...new Set(items)].flatMap((item) => places.get(item) ?? []).sort((a, b) => a - b);
}
