/** What to try next, computed on this device from what the person truly rated. */

import { make } from "./dom.js";
import { ListProfile } from "../device/recommending/list_profile.js";
import { Profile } from "../device/recommending/profile.js";
import { vocabulary } from "./vocabulary.js";
import { titleOf } from "./words.js";

/** @typedef {import("../device/documents/item_model.js").ItemModel} ItemModel */
/** @typedef {import("../device/documents/list_model.js").ListModel} ListModel */
/** @typedef {ItemModel | ListModel} Model */

const BEST = 8;

/**
 * @param {import("../device/documents/task.js").Task} task
 * @param {Model | null} model
 * @param {ReadonlyMap<number, string>} levels the person's own, by place
 * @returns {HTMLElement}
 */
export function recommendationsView(task, model, levels) {
  if (model === null) {
    return make(
      "p",
      { class: "quiet" },
      "The provider has published no model yet. Once it has, this device picks for you here.",
    );
  }
  const places = new Map(task.items.map((item, place) => [item, place]));
  const ratings = new Map(
    [...levels].flatMap(([place, level]) => {
      const item = task.items[place];
      return item === undefined ? [] : [/** @type {const} */ ([item, Number(level)])];
    }),
  );
  const best = bestOf(model, ratings).map(({ item, rating }) => {
    const place = places.get(item);
    const title = place === undefined ? String(item) : titleOf(task, place);
    const stars = rating === null ? [] : [make("span", { class: "score" }, rating.toFixed(1))];
    return make("li", {}, make("span", { class: "title" }, title), ...stars);
  });
  return make(
    "div",
    {},
    make("p", { class: "quiet" }, basisOf(task, model, levels.size)),
    make("ol", { class: "best" }, ...best),
  );
}

/**
 * The score of a list says nothing to a person, so that it comes without one.
 * @param {Model} model
 * @param {ReadonlyMap<string | number, number>} ratings
 * @returns {{ item: string | number, rating: number | null }[]}
 */
function bestOf(model, ratings) {
  if (isList(model)) {
    const best = new ListProfile(model, ratings.keys()).recommend(BEST);
    return best.map(({ item }) => ({ item, rating: null }));
  }
  const best = new Profile(model, ratings).recommend(BEST);
  return best.map(({ item, score }) => ({ item, rating: score }));
}

/**
 * @param {import("../device/documents/task.js").Task} task
 * @param {Model} model
 * @param {number} known how many items of the person's
 */
function basisOf(task, model, known) {
  if (known > 0) return `From ${vocabulary(task).truth} here.`;
  const best = isList(model) ? "are the most popular" : "please most people";
  return `Nothing of yours is known yet: these ${best}.`;
}

/**
 * @param {Model} model
 * @returns {model is ListModel}
 */
function isList(model) {
  return "popularity" in model;
}
