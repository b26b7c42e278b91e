/** What to try next, computed on this device from her true ratings. */

import { make } from "./dom.js";
import { Profile } from "../device/recommending/profile.js";
import { titleOf } from "./words.js";

const BEST = 8;

/**
 * @param {import("../device/documents/task.js").Task} task
 * @param {import("../device/documents/item_model.js").ItemModel | null} model
 * @param {ReadonlyMap<number, string>} levels hers, by place
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
  const best = new Profile(model, ratings).recommend(BEST).map(({ item, score }) => {
    const place = places.get(item);
    const title = place === undefined ? String(item) : titleOf(task, place);
    return make(
      "li",
      {},
      make("span", { class: "title" }, title),
      make("span", { class: "score" }, score.toFixed(1)),
    );
  });
  const basis =
    levels.size === 0
      ? "Nothing of yours is known yet: these please most people."
      : "From your true ratings, which stay here.";
  return make(
    "div",
    {},
    make("p", { class: "quiet" }, basis),
    make("ol", { class: "best" }, ...best),
  );
}
