/** The consent form: the question and the user's limits. Nothing is sent before consent. */

import { choicesView, middleOf } from "./choices.js";
import { contractView } from "./contract.js";
import { cellsOf } from "../device/answering/due.js";
import { affords, nano } from "../device/answering/ledger.js";
import { make } from "./dom.js";
import { sentence } from "../device/errors.js";
import * as words from "./words/contract.js";

/** @typedef {import("../device/documents/task.js").Task} Task */
/** Decimals, in nats. @typedef {{ mostEpsilon: string, lifetime: string }} Terms */

export class TermsView {
  #task;
  #epsilon;
  #touched;
  #offer = make("p", {});
  #button = make("button", { class: "primary", id: "agree" });
  #meaning = make("p", { class: "quiet" });
  #enough = make("p", { class: "quiet", id: "enough", "aria-live": "polite" });
  #limit = make("input", {
    ...{ type: "text", inputmode: "decimal", autocomplete: "off", required: true },
    ...{ id: "limit", "aria-describedby": "enough", input: () => this.#explain(true) },
  });

  /**
   * @param {Task} task
   * @param {string | null} lifetime limit that the user set for an earlier question
   * @param {(terms: Terms) => void} agreed
   */
  constructor(task, lifetime, agreed) {
    this.#task = task;
    this.#epsilon = middleOf(task);
    this.#touched = lifetime !== null;
    this.#limit.value = lifetime ?? "";
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      agreed({ mostEpsilon: this.#epsilon, lifetime: this.#limit.value });
    };
    this.view = make(
      "form",
      { class: "agree", novalidate: true, submit },
      this.#offer,
      choicesView(task, (epsilon) => this.#choose(epsilon)),
      make("div", {}, contractView(task), this.#limitView()),
      this.#button,
    );
    this.#choose(this.#epsilon);
  }

  /** @param {number} due answers */
  update(due) {
    this.#offer.textContent = words.offerInWords(this.#task, due);
    this.#button.textContent = words.agreeInWords(this.#task, due);
  }

  #limitView() {
    return make(
      "details",
      {},
      make("summary", {}, words.LIMITS),
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
    if (!this.#touched) this.#limit.value = modestLimit(this.#task, epsilon);
    this.#explain(this.#touched);
  }

  /** @param {boolean} touched whether the user changed the limit */
  #explain(touched) {
    this.#touched = touched;
    this.#enough.textContent = enough(this.#task, this.#epsilon, this.#limit.value);
  }
}

/**
 * Return the default lifetime limit: 100 answers, two full reports, or all answers to a task that is
 * answered block by block.
 * @param {Task} task
 * @param {string} epsilon
 * @returns {string}
 */
function modestLimit(task, epsilon) {
  const reports = task.growth === null ? 2 : 1;
  const answers = task.hidesPresence ? reports * cellsOf(task) : 100;
  return String(Math.ceil(answers * Number(epsilon)));
}

/**
 * @param {Task} task
 * @param {string} epsilon
 * @param {string} lifetime as typed by the user
 */
function enough(task, epsilon, lifetime) {
  try {
    const [cost, limit] = [nano(epsilon), nano(lifetime)];
    if (cost === 0n) return words.FREE;
    const cells = cellsOf(task);
    const first = task.hidesPresence && !affords({ limit, spent: 0n }, BigInt(cells) * cost);
    return words.enoughInWords(task, Number(limit / cost), first ? cells : null);
  } catch (error) {
    return sentence(error);
  }
}
