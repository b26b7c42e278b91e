/** The consent form: the question and the user's limits, which have no default unless suggested. */

import { choicesView, middleOf } from "./choices.js";
import { contractView } from "./contract.js";
import { enough, modestLimit } from "./limit.js";
import { make } from "../dom.js";
import * as words from "../words/contract.js";

/** @typedef {import("../../device/documents/task.js").Task} Task */
/** Decimals, in nats. @typedef {{ mostEpsilon: string, lifetime: string }} Terms */
/**
 * `lifetime`: the limit that the user set for an earlier question, in nats, null if none. `spent` of
 * it so far, in nano-epsilon. `suggests`: whether a noise level and a limit are preselected. `place`:
 * the collector's origin and path, empty for the address of the page.
 * @typedef {{ readonly lifetime: string | null, readonly spent: bigint, readonly suggests: boolean,
 *   readonly place: string }} Offer
 */

export class TermsView {
  #task;
  #spent;
  #suggests;
  /** @type {string | null} */
  #epsilon = null;
  #touched;
  #offer = make("p", { part: "offer" });
  #button = make("button", { class: "primary", id: "agree", part: "accept" });
  #meaning = make("p", { class: "quiet" });
  #enough = make("p", { class: "quiet", id: "enough", "aria-live": "polite" });
  #missing = make("p", { part: "missing", "aria-live": "assertive" });
  #limit = make("input", {
    ...{ type: "text", inputmode: "decimal", autocomplete: "off", required: true },
    ...{ id: "limit", "aria-describedby": "enough", input: () => this.#explain(true) },
  });

  /**
   * @param {Task} task
   * @param {Offer} offer
   * @param {(terms: Terms) => void} accepted
   * @param {() => void} declined
   */
  constructor(task, { lifetime, spent, suggests, place }, accepted, declined) {
    this.#task = task;
    this.#spent = spent;
    this.#suggests = suggests;
    this.#touched = lifetime !== null;
    this.#limit.value = lifetime ?? "";
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#submit(accepted);
    };
    const decline = { type: "button", id: "decline", part: "decline", click: declined };
    this.view = make(
      "form",
      { class: "agree", part: "form", novalidate: true, submit },
      this.#offer,
      choicesView(task, suggests, (epsilon) => this.#choose(epsilon)),
      make("div", {}, contractView(task, place), this.#limitView()),
      this.#missing,
      make(
        "p",
        { class: "buttons" },
        this.#button,
        make("button", decline, words.DECLINE),
      ),
    );
    if (suggests) this.#choose(middleOf(task));
  }

  /** @param {number} due answers */
  update(due) {
    this.#offer.textContent = words.offerInWords(this.#task, due);
    this.#button.textContent = words.agreeInWords(this.#task, due);
  }

  /** @param {(terms: Terms) => void} accepted */
  #submit(accepted) {
    const [mostEpsilon, lifetime] = [this.#epsilon, this.#limit.value];
    const isComplete = mostEpsilon !== null && lifetime !== "";
    this.#missing.textContent = isComplete ? "" : words.MISSING;
    if (isComplete) accepted({ mostEpsilon, lifetime });
  }

  #limitView() {
    return make(
      "details",
      { part: "limit", open: !this.#suggests },
      make("summary", {}, this.#suggests ? words.LIMITS : words.SET_LIMIT),
      this.#meaning,
      make("label", { for: "limit" }, words.limitInWords(this.#task)),
      this.#limit,
      this.#enough,
    );
  }

  /** @param {string} epsilon */
  #choose(epsilon) {
    this.#epsilon = epsilon;
    this.#meaning.textContent = words.epsilonInWords(epsilon, this.#task);
    if (this.#suggests && !this.#touched)
      this.#limit.value = modestLimit(this.#task, epsilon, this.#spent);
    this.#explain(this.#touched);
  }

  /** @param {boolean} touched whether the user changed the limit */
  #explain(touched) {
    this.#touched = touched;
    const [epsilon, lifetime] = [this.#epsilon, this.#limit.value];
    const isEmpty = epsilon === null || (lifetime === "" && !this.#suggests);
    this.#enough.textContent = isEmpty ? "" : enough(this.#task, epsilon, lifetime, this.#spent);
  }
}
