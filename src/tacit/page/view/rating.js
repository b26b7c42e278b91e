/** The title and the rating control of one item: a radio group, a select or a checkbox. */

import { make } from "./dom.js";
import { CLEAR, clearInWords, RATE, YOUR_RATING } from "./words/page.js";

// Display titles of items.

/**
 * Return the title of an item, or its id in a task without titles.
 * @param {import("../device/documents/task.js").Task} task
 * @param {number} place
 * @returns {string}
 */
export function titleOf(task, place) {
  return task.titles?.[place] || String(task.items[place]);
}

const MOST_RADIOS = 11;

/** @typedef {(level: string | null) => void} Rated */

/**
 * @param {import("../device/documents/task.js").Task} task
 * @param {number} place
 * @param {string | undefined} level the user's rating, if any
 * @param {Rated} rated callback on every change
 * @param {HTMLElement} fate status element
 * @returns {HTMLElement}
 */
export function ratingView(task, place, level, rated, fate) {
  const { levels } = task.scale;
  const title = titleOf(task, place);
  const control = levels.length > MOST_RADIOS ? list : radios;
  const clear = make(
    "button",
    {
      type: "button",
      class: "clear",
      "aria-label": clearInWords(title),
      disabled: level === undefined,
    },
    CLEAR,
  );
  const change = (/** @type {string | null} */ value) => {
    clear.disabled = value === null;
    rated(value);
  };
  const [input, reset] = control(`rating-${place}`, levels, level, change);
  clear.addEventListener("click", () => {
    reset().focus(); // first: a disabled button loses the focus
    change(null);
  });
  const set = make(
    "fieldset",
    {},
    make("legend", {}, title),
    make("div", { class: "control" }, input, clear),
    fate,
  );
  return make("li", { class: "item" }, set);
}

/**
 * @param {string} name
 * @param {readonly string[]} levels
 * @param {string | undefined} level
 * @param {(value: string) => void} change
 * @returns {[HTMLElement, () => HTMLElement]}
 */
function radios(name, levels, level, change) {
  const inputs = levels.map((value) =>
    make("input", {
      type: "radio",
      name,
      value,
      checked: value === level,
      change: () => change(value),
    }),
  );
  const labels = inputs.map((input) => make("label", {}, input, make("span", {}, input.value)));
  const reset = () => {
    for (const input of inputs) input.checked = false;
    return inputs[0] ?? document.body;
  };
  return [make("div", { class: "levels" }, ...labels), reset];
}

/**
 * @param {string} name
 * @param {readonly string[]} levels
 * @param {string | undefined} level
 * @param {(value: string) => void} change
 * @returns {[HTMLElement, () => HTMLElement]}
 */
function list(name, levels, level, change) {
  const options = levels.map((value) =>
    make("option", { value, selected: value === level }, value),
  );
  const none = make("option", { value: "", disabled: true, selected: level === undefined }, RATE);
  const select = make("select", { name, "aria-label": YOUR_RATING }, none, ...options);
  select.addEventListener("change", () => change(select.value));
  const reset = () => {
    select.value = "";
    return select;
  };
  return [select, reset];
}

// One item on the scale `there`: a tap marks it, another tap clears the mark.

/**
 * Return a checkbox whose label is the entire row, so that a tap anywhere in the row toggles it.
 * @param {import("../device/documents/task.js").Task} task
 * @param {number} place
 * @param {string | undefined} level the user's mark, if any
 * @param {Rated} rated callback on every change
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
