/** The catalogue view: search by words of a title, and rate or mark items. */

import { make } from "./dom.js";
import { markView, ratingView, titleOf } from "./rating.js";
import { hasOneLevel } from "../device/documents/scale.js";
import { FIND, foundInWords, MORE, NONE_FOUND, onlyMineInWords } from "./words/page.js";

/** Items per page: few on a narrow screen, so that the recommendations stay within reach. */
const AT_ONCE = matchMedia("(min-width: 52rem)").matches ? 12 : 6;

/** @typedef {import("../device/documents/task.js").Task} Task */

export class CatalogueView {
  #task;
  #rated;
  #levels;
  /** @type {string[] | null} */
  #folded = null;
  #list = make("ul", { class: "items" });
  #found = make("p", { class: "quiet", role: "status" });
  #more = make("button", { type: "button", click: () => this.#grow() }, MORE);
  #search = make("input", {
    type: "search",
    id: "search",
    autocomplete: "off",
    input: () => this.show(),
  });
  #mine = make("input", { type: "checkbox", change: () => this.show() });
  /** @type {number[]} */
  #waiting = [];
  /** @type {ReadonlyMap<number, import("./fate.js").Fate>} */
  #fates = new Map();
  /** @type {Map<number, HTMLElement>} */
  #told = new Map();

  /**
   * @param {Task} task
   * @param {ReadonlyMap<number, string>} levels the user's ratings, by catalogue index
   * @param {(place: number, level: string | null) => void} rated
   */
  constructor(task, levels, rated) {
    this.#task = task;
    this.#levels = new Map(levels);
    this.#rated = rated;
    this.view = make(
      "div",
      {},
      make(
        "div",
        { class: "find" },
        make("label", { for: "search" }, FIND),
        this.#search,
        make("label", { class: "mine" }, this.#mine, onlyMineInWords(task)),
        this.#found,
      ),
      this.#list,
      this.#more,
    );
    this.show();
  }

  /** Show the first page of search results. */
  show() {
    const words = fold(this.#search.value).split(" ").filter(Boolean);
    const named = (/** @type {number} */ place) => {
      const title = words.length > 0 ? this.#titles()[place] : "";
      return words.every((word) => title?.includes(word));
    };
    const places = [...this.#task.items.keys()].filter(
      (place) => (!this.#mine.checked || this.#levels.has(place)) && named(place),
    );
    this.#found.textContent =
      places.length === 0 ? NONE_FOUND : foundInWords(places.length);
    this.#waiting = places;
    this.#told.clear();
    this.#list.replaceChildren();
    this.#grow();
  }

  /** Return all titles as `fold` normalizes them, cached by the first search. */
  #titles() {
    const { items } = this.#task;
    return (this.#folded ??= items.map((_, place) => fold(titleOf(this.#task, place))));
  }

  /**
   * Show the status of each item's rating.
   * @param {ReadonlyMap<number, import("./fate.js").Fate>} fates
   */
  update(fates) {
    this.#fates = fates;
    for (const [place, view] of this.#told) this.#say(place, view);
  }

  /** Show the next page. If the button was pressed, the focus moves to its first item. */
  #grow() {
    const pressed = document.activeElement === this.#more;
    const next = this.#waiting.splice(0, AT_ONCE).map((place) => this.#itemView(place));
    this.#list.append(...next);
    this.#more.hidden = this.#waiting.length === 0;
    const first = next[0]?.querySelector("input, select");
    if (pressed && first instanceof HTMLElement) first.focus();
  }

  /** @param {number} place */
  #itemView(place) {
    const itemView = hasOneLevel(this.#task.scale) ? markView : ratingView;
    const fate = make("p", { class: "fate" });
    this.#told.set(place, fate);
    this.#say(place, fate);
    const changed = (/** @type {string | null} */ level) => this.#changed(place, level);
    return itemView(this.#task, place, this.#levels.get(place), changed, fate);
  }

  /**
   * @param {number} place
   * @param {HTMLElement} view
   */
  #say(place, view) {
    const fate = this.#fates.get(place);
    view.textContent = fate?.text ?? "";
    view.dataset["kind"] = fate?.kind ?? "";
  }

  /**
   * @param {number} place
   * @param {string | null} level
   */
  #changed(place, level) {
    if (level === null) this.#levels.delete(place);
    else this.#levels.set(place, level);
    this.#rated(place, level);
  }
}

/**
 * Normalize a text: remove case and accents.
 * @param {string} text
 */
function fold(text) {
  return text
    .normalize("NFD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase();
}
