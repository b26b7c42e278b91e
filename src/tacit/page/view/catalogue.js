/** The catalogue: found by words of a title, rated or marked in place. */

import { make } from "./dom.js";
import { markView } from "./mark.js";
import { ratingView } from "./rating.js";
import { hasOneLevel } from "../device/documents/scale.js";
import { vocabulary } from "./vocabulary.js";
import { count, titleOf } from "./words.js";

const AT_ONCE = 12;

/** @typedef {import("../device/documents/task.js").Task} Task */

export class CatalogueView {
  #task;
  #rated;
  #levels;
  #folded;
  #list = make("ul", { class: "items" });
  #found = make("p", { class: "quiet", role: "status" });
  #more = make("button", { type: "button", click: () => this.#grow() }, "Show more");
  #search = make("input", {
    type: "search",
    id: "search",
    autocomplete: "off",
    input: () => this.show(),
  });
  #mine = make("input", { type: "checkbox", change: () => this.show() });
  /** @type {number[]} */
  #waiting = [];

  /**
   * @param {Task} task
   * @param {ReadonlyMap<number, string>} levels the person's own, by place
   * @param {import("./rating.js").Rated} rated
   */
  constructor(task, levels, rated) {
    this.#task = task;
    this.#levels = new Map(levels);
    this.#folded = task.items.map((_, place) => fold(titleOf(task, place)));
    this.#rated = rated;
    this.view = make(
      "div",
      {},
      make(
        "div",
        { class: "find" },
        make("label", { for: "search" }, "Find"),
        this.#search,
        make("label", { class: "mine" }, this.#mine, `only what I ${vocabulary(task).did}`),
      ),
      this.#found,
      this.#list,
      this.#more,
    );
    this.show();
  }

  /** Lists what the words find, from the start. */
  show() {
    const words = fold(this.#search.value).split(" ").filter(Boolean);
    const places = [...this.#folded.keys()].filter((place) => {
      const wanted = !this.#mine.checked || this.#levels.has(place);
      return wanted && words.every((word) => this.#folded[place]?.includes(word));
    });
    this.#found.textContent =
      places.length === 0 ? "Nothing is called that." : count(places.length, "title");
    this.#waiting = places;
    this.#list.replaceChildren();
    this.#grow();
  }

  /** Shows the next few; the first of them takes the focus when the button was pressed. */
  #grow() {
    const pressed = document.activeElement === this.#more;
    const itemView = hasOneLevel(this.#task.scale) ? markView : ratingView;
    const next = this.#waiting
      .splice(0, AT_ONCE)
      .map((place) =>
        itemView(this.#task, place, this.#levels.get(place), (...change) =>
          this.#changed(...change),
        ),
      );
    this.#list.append(...next);
    this.#more.hidden = this.#waiting.length === 0;
    const first = next[0]?.querySelector("input, select");
    if (pressed && first instanceof HTMLElement) first.focus();
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
 * Without case and accents.
 * @param {string} text
 */
function fold(text) {
  return text
    .normalize("NFD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase();
}
