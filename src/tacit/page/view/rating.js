/** The rating control of one item: a radio group, or a select for long scales. */

import { make } from "./dom.js";
import { titleOf } from "./titles.js";
import { CLEAR, clearInWords, RATE, YOUR_RATING } from "./words/page.js";

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
