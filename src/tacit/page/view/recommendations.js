/** Recommendations, computed on the device from the user's true ratings. */

import { make } from "./dom.js";
import { isList, recommend } from "../device/recommending/recommend.js";
import { titleOf } from "./rating.js";
import { basisInWords, NO_MODEL } from "./words/page.js";

/** @typedef {import("../device/documents/item_model.js").ItemModel} ItemModel */
/** @typedef {import("../device/documents/list_model.js").ListModel} ListModel */
/** @typedef {import("../device/documents/task.js").Task} Task */
/** @typedef {ItemModel | ListModel} Model */
/** `rating` is null for a list model, whose scores have no meaning to a user.
 * @typedef {{ readonly title: string, readonly rating: number | null }} Best */

const BEST = 8;

/**
 * Return the recommendations, best first. Empty without a model.
 * @param {Task} task
 * @param {Model | null} model
 * @param {ReadonlyMap<number, string>} levels the user's ratings, by catalogue index
 * @returns {Best[]}
 */
export function bestOf(task, model, levels) {
  const titles = titlesOf(task, model);
  const list = model !== null && isList(model);
  return recommend(task, model, levels, BEST).map(({ item, score }) => {
    return { title: titles.get(item) ?? String(item), rating: list ? null : score };
  });
}

/**
 * Return the titles of the task's items and of a model's target domain, by item id.
 * @param {Task} task
 * @param {Model | null} model
 * @returns {Map<string | number, string>}
 */
function titlesOf(task, model) {
  const titles = new Map(task.items.map((item, place) => [item, titleOf(task, place)]));
  if (model === null || isList(model) || model.target === null) return titles;
  const { first, titles: targets } = model.target;
  targets.forEach((title, k) => titles.set(model.items[first + k] ?? "", title));
  return titles;
}

/**
 * @param {Task} task
 * @param {Model | null} model
 * @param {readonly Best[]} best
 * @param {number} known number of items that the user rated
 * @returns {HTMLElement}
 */
export function recommendationsView(task, model, best, known) {
  if (model === null) return make("p", { class: "quiet" }, NO_MODEL);
  const items = best.map(({ title, rating }) => {
    const stars = rating === null ? [] : [make("span", { class: "score" }, rating.toFixed(1))];
    return make("li", {}, make("span", { class: "title" }, title), ...stars);
  });
  return make(
    "div",
    {},
    make("p", { class: "quiet" }, basisInWords(task, isList(model), known)),
    make("ol", { class: "best" }, ...items),
  );
}
