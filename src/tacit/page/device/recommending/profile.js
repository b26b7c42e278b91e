/** On-device recommendations from the user's true ratings, which never leave the device. */

import { integer, mustBe, mustHave } from "../arguments.js";
import { DataError, RequestError } from "../errors.js";
import { scores } from "./exposure.js";
import { ordinalRow, expected, linearRow, theta } from "./solve.js";

/** @typedef {import("../documents/item_model.js").Item} Item */
/** @typedef {import("../documents/item_model.js").ItemDraw} ItemDraw */
/** @typedef {import("../documents/item_model.js").ItemModel} ItemModel */

/**
 * Throw `RequestError` if a profile has items and none of them is in the model.
 * @param {number} own number of items in the profile
 * @param {number} known number of these in the model
 */
export function requireKnown(own, known) {
  if (own === 0 || known > 0) return;
  // The message names no item: it may end up in a log.
  throw new RequestError(
    `None of the ${own} items in the profile is in the model; use the ids of the model's catalogue.`,
  );
}

/** A user's profile: an item model and the user's true ratings, by raw item id. */
export class Profile {
  #model;
  #places;
  #known;

  /**
   * Ids are matched as strings. Ratings of items outside the model are ignored. Throws
   * `RequestError` for another kind of model, for a rating off the model's scale, and if all items
   * are outside the model. The constructor and all methods throw `DataError` if a result is not finite.
   * @param {ItemModel} model
   * @param {ReadonlyMap<Item, number>} ratings
   */
  constructor(model, ratings) {
    const remedy = "pass what fetchModel returned, and a list model to ListProfile";
    mustHave(["draws", "scale"], model, "an item model", remedy);
    mustBe(Map, ratings, "a Map of ratings by item id", "write new Map([[7, 5]])");
    if ([...ratings.values()].some((rating) => !model.scale.values.includes(rating))) {
      throw new RequestError(`A rating is not on the model's scale ${model.scale.text}.`);
    }
    this.#model = model;
    this.#places = new Map(model.items.map((item, place) => [String(item), place]));
    this.#known = knownPlaces(this.#places, ratings);
    requireKnown(ratings.size, this.#known.length);
    /** The user's row under each draw, bias first. As confidential as the ratings. */
    this.rows = model.draws.map((draw) => this.#solve(draw));
    this.rows.flat().forEach(refuseNone);
  }

  /**
   * Return the predicted rating. An item outside the model gets the user's average. An item of a
   * target domain with cuts gets the median level, others the mean.
   * @param {Item} item
   * @returns {number}
   */
  predict(item) {
    const place = this.#places.get(String(item));
    return this.#rating(place, this.#mean(place));
  }

  /**
   * Return the n best items that are neither rated by the user nor hidden, with predicted ratings,
   * best first, of the target domain alone if the model has one. Items of the same median level are ordered by their
   * means. Other ties are in the model's item order.
   *
   * `rankBy`: "gain", the expected gain of showing an item, or "rating". Default: "gain" if the
   * model has an exposure. Equal exposures of all items leave the order to ratings. Throws
   * `RequestError` for another value, for "gain" without an exposure, and for another n than an
   * integer of at least 0.
   * @param {number} [n]
   * @param {"gain" | "rating" | null} [rankBy]
   * @returns {{ item: Item, score: number }[]}
   */
  recommend(n = 10, rankBy = null) {
    integer("n", n, 0);
    const means = this.#model.items.map((_, place) => this.#mean(place));
    const ratings = means.map((mean, place) => this.#rating(place, mean));
    const order = this.#byGain(rankBy) ? this.#gains(ratings) : ratings;
    const excluded = new Set([...this.#known.map(([place]) => place), ...this.#model.hidden]);
    const first = this.#model.target?.first ?? 0;
    return this.#model.items
      .map((item, place) => ({ item, place }))
      .filter(({ place }) => place >= first && !excluded.has(place))
      .sort((a, b) => descending(order, a.place, b.place) || descending(means, a.place, b.place))
      .slice(0, n)
      .map(({ item, place }) => ({ item, score: ratings[place] ?? NaN }));
  }

  /** @param {string | null} rankBy */
  #byGain(rankBy) {
    const exposed = this.#model.exposure !== null;
    if (rankBy === null) return exposed;
    if (rankBy !== "gain" && rankBy !== "rating") {
      throw new RequestError(`rankBy must be gain or rating, got ${rankBy}.`);
    }
    if (rankBy === "gain" && !exposed) {
      throw new RequestError("The model has no exposure to rank by; leave out rankBy.");
    }
    return rankBy === "gain";
  }

  /** @param {readonly number[]} ratings */
  #gains(ratings) {
    const { exposure, scale } = this.#model;
    const [low, high] = [Math.min(...scale.values), Math.max(...scale.values)];
    const own = this.#known.map(([place]) => place);
    const exposures = exposure === null ? [] : scores(exposure, own, ratings.length);
    if (exposures.every((score) => score === 0)) return ratings;
    return exposures.map((score, place) =>
      score > 0 ? score * (((ratings[place] ?? NaN) - low) / (high - low)) : score,
    );
  }

  /**
   * Return the predicted rating of an item whose mean prediction is `mean`.
   * @param {number | undefined} place
   * @param {number} mean
   * @returns {number}
   */
  #rating(place, mean) {
    const { target, scale } = this.#model;
    if (target === null || target.cuts.length === 0) return mean;
    if (place === undefined || place < target.first) return mean;
    return scale.values[target.cuts.filter((cut) => cut <= mean).length] ?? NaN;
  }

  /**
   * @param {number | undefined} place
   * @returns {number}
   */
  #mean(place) {
    const { draws, link, scale, sigma } = this.#model;
    let total = 0;
    draws.forEach((draw, index) => {
      const taste = theta(draw, this.rows[index] ?? [], place);
      total += link === "cells" ? expected(taste, scale.values, sigma) : taste;
    });
    refuseNone(total);
    return Math.min(
      Math.max(total / draws.length, Math.min(...scale.values)),
      Math.max(...scale.values),
    );
  }

  /** @param {ItemDraw} draw */
  #solve(draw) {
    const prior = this.#prior(draw);
    return this.#model.link === "linear"
      ? linearRow(draw, this.#known, prior)
      : ordinalRow(draw, this.#known, prior, this.#model.scale.values, this.#model.sigma);
  }

  /** @param {ItemDraw} draw */
  #prior(draw) {
    const features = this.#features();
    const width = 1 + this.#model.factors;
    return Array.from({ length: width }, (_, k) =>
      features.reduce((sum, f, j) => sum + f * (draw.priorWeights[j * width + k] ?? 0), 0),
    );
  }

  /** @returns {number[]} */
  #features() {
    const { presence } = this.#model;
    const n = this.#known.length;
    if (presence === null || n === 0) return [];
    const d = presence.centre.length;
    const activity = (Math.log1p(n) - presence.logMean) / presence.logScale;
    const means = Array.from(presence.centre, (centre, j) => {
      const sum = this.#known.reduce((s, [place]) => s + (presence.vectors[place * d + j] ?? 0), 0);
      return sum / (n + presence.damping) - centre;
    });
    return [activity, ...means];
  }
}

/** @param {number} value */
function refuseNone(value) {
  if (!Number.isFinite(value)) {
    throw new DataError("This item model causes numeric overflow and cannot predict ratings.");
  }
}

/**
 * Return indices and ratings of known items, by index: results do not depend on the input order.
 * @param {ReadonlyMap<string, number>} places
 * @param {ReadonlyMap<Item, number>} ratings
 * @returns {(readonly [number, number])[]}
 */
function knownPlaces(places, ratings) {
  return [...ratings]
    .flatMap(([item, rating]) => {
      const place = places.get(String(item));
      return place === undefined ? [] : [/** @type {const} */ ([place, rating])];
    })
    .sort(([a], [b]) => a - b);
}

/**
 * @param {readonly number[]} numbers
 * @param {number} a
 * @param {number} b
 */
function descending(numbers, a, b) {
  return (numbers[b] ?? NaN) - (numbers[a] ?? NaN);
}
