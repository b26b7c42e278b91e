/** The best for one person, by whichever model the provider publishes. */

import { ListProfile } from "./list_profile.js";
import { Profile } from "./profile.js";

/** @typedef {import("../documents/item_model.js").Item} Item */
/** @typedef {import("../documents/item_model.js").ItemModel} ItemModel */
/** @typedef {import("../documents/list_model.js").ListModel} ListModel */

/**
 * The n best items that the person has not rated, best first: with the rating that they would give
 * under an item model, with a score that only orders items under a list model. None without a model.
 *
 * Throws what `Profile` does.
 * @param {Pick<import("../documents/task.js").Task, "items">} task
 * @param {ItemModel | ListModel | null} model
 * @param {ReadonlyMap<number, string>} levels the person's own, by place
 * @param {number} n
 * @returns {{ item: Item, score: number }[]}
 */
export function recommend({ items }, model, levels, n) {
  if (model === null) return [];
  const ratings = new Map(
    [...levels].flatMap(([place, level]) => {
      const item = items[place];
      return item === undefined ? [] : [/** @type {const} */ ([item, Number(level)])];
    }),
  );
  const mine = isList(model) ? new ListProfile(model, ratings.keys()) : new Profile(model, ratings);
  return mine.recommend(n);
}

/**
 * @param {ItemModel | ListModel} model
 * @returns {model is ListModel}
 */
export function isList(model) {
  return "popularity" in model;
}
