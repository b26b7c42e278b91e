/** Recommendations for one user from a published item model or list model. */

import { integer, mustBe, mustHave } from "../arguments.js";
import { ListProfile } from "./list_profile.js";
import { Profile } from "./profile.js";

/** @typedef {import("../documents/item_model.js").Item} Item */
/** @typedef {import("../documents/item_model.js").ItemModel} ItemModel */
/** @typedef {import("../documents/list_model.js").ListModel} ListModel */

/**
 * Return the n best items that the user has not rated, best first. `score` is a predicted rating
 * under an item model, and for ranking only under a list model. Empty without a model.
 *
 * Throws what `Profile` and `ListProfile` throw, and `RequestError` for another n than an integer.
 * @param {Pick<import("../documents/task.js").Task, "items">} task
 * @param {ItemModel | ListModel | null} model
 * @param {ReadonlyMap<number, string>} levels the user's ratings, by catalogue index
 * @param {number} n
 * @returns {{ item: Item, score: number }[]}
 */
export function recommend(task, model, levels, n) {
  const { items } = mustHave(["items"], task, "a task", "pass what fetchTask returned");
  mustBe(Map, levels, "the user's ratings", "pass levels of client.history(task)");
  integer("n", n, 0);
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
  return "popularity" in mustHave([], model, "a model", "pass what fetchModel returned");
}
