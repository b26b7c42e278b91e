/** Summary after consent: answers sent, epsilon spent, and the result. */

import { contractView } from "./consent/contract.js";
import { channelOf } from "../device/answering/blocks.js";
import { historyOf } from "../device/answering/due.js";
import { left, nano, nats } from "../device/answering/ledger.js";
import { begins } from "../device/documents/task.js";
import { make } from "./dom.js";
import * as words from "./words/sent.js";

/** @typedef {import("../device/documents/task.js").Task} Task */
/** @typedef {import("../device/store.js").Rows} Rows */

export class SoFarView {
  #task;
  #left = make("p", {});
  #spent = make("p", {});
  #meter = make("span", { class: "bar meter", "aria-hidden": "true" });
  #counts = make("p", { class: "quiet" });
  #came = make("p", {});
  #code = make("p", { class: "code" });

  /** @param {Task} task */
  constructor(task) {
    this.#task = task;
    const counts = make("details", {}, make("summary", {}, words.COUNTS), this.#counts);
    const parts = [
      ...part(words.LEFT, this.#left),
      ...part(words.COST, this.#spent, this.#meter, counts),
      ...part(words.CAME, this.#came),
      ...part(words.REFERENCE, this.#code, make("p", { class: "quiet" }, words.REFERENCE_FOR)),
    ];
    this.view = make(
      "div",
      {},
      make("dl", { class: "sofar" }, ...parts),
      contractView(task, ""),
    );
  }

  /**
   * Update the view. Throws what `channelOf` throws if the user's maximum is below all offers.
   * @param {Rows} rows of a user who agreed
   * @param {string | undefined} first title of the first recommendation, if any
   * @param {string} code by which the provider finds the user's reports
   */
  update(rows, first, code) {
    this.#code.textContent = code;
    this.#left.textContent = answers(this.#task, rows);
    this.#came.textContent = words.cameInWords(first);
    const [owner, lifetime] = [rows.owner[0], rows.ledger[0]];
    if (owner === undefined) return;
    const [spent, limit] = [lifetime?.spent ?? 0n, owner.limit];
    this.#spent.textContent = words.spentInWords(this.#task, nats(spent), nats(limit));
    const share = Math.min(1, Number(spent) / Math.max(1, Number(limit)));
    this.#meter.style.setProperty("--share", String(share));
    const { epsilon } = channelOf(this.#task, owner.maximum, rows);
    const [cost, rest] = [nano(epsilon), left({ limit, spent })];
    const more = cost === 0n ? null : Number(rest / cost);
    this.#counts.textContent = words.budgetInWords(this.#task, epsilon, nats(rest), more);
  }
}

/** @param {string} name @param {...HTMLElement} views */
function part(name, ...views) {
  return [make("dt", {}, name), make("dd", {}, ...views)];
}

/**
 * @param {Task} task
 * @param {Rows} rows
 */
function answers(task, rows) {
  const last = [...historyOf(rows, task.question).last.values()];
  const waiting = rows.outbox.filter((row) => row.task === task.question);
  const waits = last.filter(({ epoch, place }) =>
    waiting.some((row) => row.epoch === epoch && (task.hidesPresence || row.place === place)),
  );
  const since = begins(task, Math.max(...last.map(({ epoch }) => epoch)));
  return words.answersInWords(task, last.length, waits.length, since);
}
