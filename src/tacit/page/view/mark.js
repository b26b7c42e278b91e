/** One item on the scale `there`: a tap marks it, another tap clears the mark. */

import { make } from "./dom.js";
import { titleOf } from "./titles.js";

/**
 * Return a checkbox whose label is the entire row, so that a tap anywhere in the row toggles it.
 * @param {import("../device/documents/task.js").Task} task
 * @param {number} place
 * @param {string | undefined} level the user's mark, if any
 * @param {import("./rating.js").Rated} rated callback on every change
 * @param {HTMLElement} fate status element
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
