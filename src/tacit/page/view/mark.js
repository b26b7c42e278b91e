/** One item on the scale there: a tap says that it is there, and another that it is not. */

import { make } from "./dom.js";
import { titleOf } from "./titles.js";

/**
 * A checkbox with its title, so that the whole row takes the tap.
 * @param {import("../device/documents/task.js").Task} task
 * @param {number} place
 * @param {string | undefined} level the person's own, if any
 * @param {import("./rating.js").Rated} rated is told of every change
 * @param {HTMLElement} fate what became of it
 * @returns {HTMLElement}
 */
export function markView(task, place, level, rated, fate) {
  const [there = ""] = task.scale.levels;
  const box = make("input", {
    type: "checkbox",
    checked: level !== undefined,
    change: () => rated(box.checked ? there : null),
  });
  const title = make("span", { class: "title" }, titleOf(task, place));
  return make("li", { class: "item" }, make("label", { class: "mark-item" }, box, title), fate);
}
