/**
 * The device: stores the ratings, answers through a verified channel, and sends reports.
 *
 * Debit, draw, the answer and the report's bytes reach the disk in one transaction before anything
 * is sent. A crash may waste epsilon. It never overspends it and never draws twice.
 */

import { mustBe, mustBeTask, mustHave, options } from "./arguments.js";
import { accepted, checkTerms, ownerOf, updated } from "./answering/consent.js";
import { secretWord } from "./answering/draw.js";
import { channelOf } from "./answering/blocks.js";
import { copied } from "./answering/copying.js";
import { countDue, dueAgain, historyOf } from "./answering/due.js";
import { erasuresOf } from "./sending/erasing.js";
import { BudgetError, RequestError } from "./errors.js";
import { exported } from "./export.js";
import { referenceCode, round } from "./answering/round.js";
import { refuseAnothers, refuseMoved } from "./sending/moves.js";
import { checkToken } from "./sending/collector.js";
import { LastModel } from "./recommending/last_model.js";
import { recommend } from "./recommending/recommend.js";
import { Sender } from "./sending/sender.js";
import * as wireTask from "./documents/task.js";
import { choose } from "./documents/task.js";
import { levelOf } from "./documents/scale.js";
import { CLOSED, inAllTabs } from "./store.js";

/** @typedef {import("./documents/channel.js").Channel} Channel */
/** @typedef {import("./documents/task.js").Task} Task */

/**
 * External dependencies. Only tests replace others than `store` and `collector`. `clock`: Unix
 * seconds. `alone`: runs tasks one after another, across all tabs of this browser.
 * @typedef {{ readonly store: import("./store.js").Store,
 *   readonly collector: Pick<import("./sending/collector.js").Collector, "task" | "send" | "erase" | "origin" |
 *     "newestModel" | "model">,
 *   readonly clock?: () => number, readonly words?: import("./answering/draw.js").Words,
 *   readonly alone?: <T>(work: () => Promise<T>) => Promise<T> }} World
 */

const NOT_BEGUN = "This task has not begun, so the device sends no report yet.";
const WORLD = ["store", "collector", "clock", "words", "alone"];

/**
 * The outcome of the reports in a sync.
 *
 * `stored`: acknowledged by the collector. `givenUp`: permanently refused by the collector. `late`:
 * dropped because their epoch is past the task's window. `waiting`: not acknowledged yet. `again`:
 * Unix seconds before which another sync sends nothing, null if it may send at once. `refused`:
 * ratings that were not answered because of the lifetime limit. `refusal`: the first such error.
 * `erased`: pseudonyms that the collector erased. `erasing`: pseudonyms with a requested and
 * not yet confirmed erasure. `notes`: one sentence per problem that the collector reported, and one
 * if a task has not begun.
 * @typedef {{ readonly stored: number, readonly givenUp: number, readonly late: number,
 *   readonly waiting: number, readonly again: number | null, readonly refused: number,
 *   readonly refusal: BudgetError | null, readonly erased: number, readonly erasing: number,
 *   readonly notes: readonly string[] }} SyncOutcome
 */

export class Client {
  #store;
  #collector;
  #clock;
  #words;
  #alone;
  #sender;
  /** The task that was verified last, for a sync during a backoff. @type {Task | null} */
  #task = null;
  #models;

  /**
   * Throws `RequestError` without a store or a collector, and for an unknown option.
   * @param {World} world
   */
  constructor(world) {
    const remedy = "write new Client({ store, collector })";
    options(WORLD, world, "the options of a client", remedy);
    const { store, collector, clock = () => Date.now() / 1000, words, alone = inAllTabs } = world;
    this.#store = mustHave(["read", "commit"], store, "a store", "pass what openStore returned");
    this.#collector = mustHave(["origin", "send"], collector, "a collector", remedy);
    this.#clock = clock;
    this.#words = words;
    this.#alone = alone;
    this.#sender = new Sender(store, collector, clock);
    this.#models = new LastModel(collector);
  }

  /** Return everything that the device stores. */
  read() {
    return this.#store.read();
  }

  /**
   * Accept the terms of `task`, once the user has agreed to them. `mostEpsilon`: the maximum cost of
   * one answer. `lifetime`: the maximum cost of all answers together. Both in nats, as decimals.
   * Throws `RequestError` for terms that are not two decimals, `MovedError` for a task that moved away
   * from the origin of the collector, and `CertificateError` for a task of another provider, one that
   * asks for more, and one that extends an ancestor of the present task in another way.
   * @param {Task} task
   * @param {{ mostEpsilon: string, lifetime: string }} terms
   */
  async accept(task, terms) {
    checkTerms(terms);
    refuseAnothers(mustBeTask(task), this.#collector.origin);
    choose(task, terms.mostEpsilon);
    await this.#alone(async () => {
      const rows = await this.#store.read();
      await this.#store.commit(accepted(rows, task, terms, this.#collector.origin));
      this.#task = task;
    });
  }

  /**
   * Update the task of the device, and return whether the user already agreed to its question, in any
   * format, or to a task that it extends. From now on the question is asked in this format, and with
   * these items. Throws `MovedError` for a task that moved away from the origin of the collector, and
   * `CertificateError` for a task of another provider, and for one that extends an ancestor of the
   * present task in another way.
   *
   * With the collector of `MovedError.successor`, this is the user's agreement to the move: ratings,
   * answers, pseudonyms and the sum spent continue, and all further requests go there.
   * @param {Task} task
   * @returns {Promise<boolean>}
   */
  async updateTask(task) {
    refuseAnothers(mustBeTask(task), this.#collector.origin);
    return this.#alone(async () => {
      const change = updated(await this.#store.read(), task, this.#collector.origin);
      if (change?.put !== undefined) await this.#store.commit(change);
      this.#task = task;
      return change !== null;
    });
  }

  /**
   * Register the device with the enrolment token that the provider issued to the user. Every upload
   * includes it. Throws as `checkToken`.
   * @param {string} token
   */
  async register(token) {
    mustBe("string", token, "an enrolment token", "pass the one that the provider issued");
    checkToken(token, this.#collector.origin);
    await this.#store.commit({ put: { enrolment: [{ self: "token", token }] } });
  }

  /**
   * Store the user's true rating of an item on the device, or delete it (null). Nothing is sent. On
   * the scale `there`, 1 means that the item is present, and null that it is not.
   *
   * Throws `RequestError` for an item outside the catalogue and for a rating off its scale. The
   * messages name neither: they may end up in a log.
   * @param {Task} task
   * @param {string | number} item
   * @param {string | number | null} rating
   */
  async rate(task, item, rating) {
    const place = mustBeTask(task).items.findIndex((one) => String(one) === String(item));
    if (place < 0) throw new RequestError("This item is not in the task's catalogue.");
    const key = { task: task.question, place };
    if (rating === null)
      return this.#store.commit({ remove: { ratings: [{ ...key, level: "" }] } });
    const level = task.scale.levels[levelOf(task.scale, rating)] ?? "";
    return this.#store.commit({ put: { ratings: [{ ...key, level }] } });
  }

  /**
   * Copy the user's ratings of an earlier task of the provider to `task`, and return their number. An
   * item is the same in both tasks if it has the same id and title. Ratings of `task` are not
   * replaced. Nothing is sent.
   *
   * Get the user's agreement first. The tasks have different pseudonyms, and reports of the same
   * ratings may reveal that both are of one user. They also cost epsilon again.
   *
   * Throws `RequestError` for two tasks of one question, and of different scales.
   * @param {Task} task
   * @param {Task} earlier
   */
  async copyRatings(task, earlier) {
    const tasks = /** @type {const} */ ([mustBeTask(earlier), mustBeTask(task)]);
    return this.#alone(async () => {
      const ratings = copied((await this.#store.read()).ratings, ...tasks);
      await this.#store.commit({ put: { ratings } });
      return ratings.length;
    });
  }

  /**
   * Return the user's ratings of the task's items, and the last report of each item, by catalogue
   * index.
   * @param {Task} task
   */
  async history(task) {
    return historyOf(await this.#store.read(), mustBeTask(task).question);
  }

  /**
   * Return the number of answers due: `sync` draws this many if the lifetime limit allows it. For a
   * task that is answered block by block, it is an average before the user agrees.
   * @param {Task} task
   */
  async countDue(task) {
    const epoch = wireTask.epoch(mustBeTask(task), this.#clock());
    return countDue(task, await this.#store.read(), epoch);
  }

  /**
   * Fetch the newest model, as `sync` does. Returns and throws what the function `fetchModel` does.
   * @param {Task} task
   */
  async fetchModel(task) {
    return this.#models.fetch(mustBeTask(task));
  }

  /**
   * Return the n best items that the user has not rated, best first, by the model that was fetched
   * last; the first one is fetched. Computed on the device. `score` is a predicted rating under an
   * item model, and for ranking only under a list model. Empty if no model is published.
   *
   * Throws what `fetchModel` and `Profile` throw.
   * @param {Task} task
   * @param {number} [n]
   */
  async recommend(task, n = 10) {
    const { levels } = await this.history(task);
    return recommend(task, await this.#models.get(task), levels, n);
  }

  /**
   * Return the code by which the provider finds the user's reports to a task, for a request to
   * delete or export them. Throws `RequestError` before consent.
   * @param {Task} task
   */
  async referenceCode(task) {
    const rows = await this.#store.read();
    return referenceCode(ownerOf(rows), rows, mustBeTask(task));
  }

  /** Export the owner's data on the device as JSON, without the secret. */
  async export() {
    return exported(await this.#store.read());
  }

  /**
   * Request pending erasures, compute the answers that are due and send the outbox.
   *
   * Throws what `loads` of a task, `refuseAnothers` and `choose` throw, before anything is drawn,
   * `MovedError` if the user agreed to a move and the collector is not that of the successor, and `BudgetError` if a first report costs more than the remaining budget, or all reports to a task
   * that is answered block by block, which are paid for together. The outbox is sent in that case
   * too. At the end it fetches a newer model, if it can.
   * @returns {Promise<SyncOutcome>}
   */
  async sync() {
    const outcome = await this.#alone(async () => {
      const asked = await this.#sender.erase();
      const rows = await this.#store.read();
      const owner = ownerOf(rows);
      this.#refuseMoved(rows);
      const task = await this.#current(owner.task, rows.pause);
      if (task === null) return this.#send(asked);
      refuseAnothers(task, this.#collector.origin);
      const channel = channelOf(task, owner.maximum, rows);
      const late = await this.#dropLate();
      const epoch = wireTask.epoch(task, this.#clock());
      const refusals = await this.#answer(task, channel, epoch).catch(async (error) => {
        if (error instanceof BudgetError) await this.#sender.upload(asked);
        throw error;
      });
      const sent = await this.#sender.upload(asked);
      const notes = epoch < 0 ? [...sent.notes, NOT_BEGUN] : sent.notes;
      return { ...sent, late, refused: refusals.length, refusal: refusals[0] ?? null, notes };
    });
    if (outcome.again === null && this.#task !== null) await this.fetchModel(this.#task).catch(() => {});
    return outcome;
  }

  /**
   * Send the outbox, without new answers. Throws `MovedError` as `sync` does.
   * @returns {Promise<SyncOutcome>}
   */
  resend() {
    return this.#alone(async () => {
      this.#refuseMoved(await this.#store.read());
      return this.#send(await this.#sender.erase());
    });
  }

  /**
   * Delete everything except the sum spent, because a restart does not restore the budget. Ask the
   * provider to erase the reports, now and, until it confirms, at every later upload.
   *
   * The erasure keys reach the disk in the transaction that deletes the secret from which they are
   * derived. `erased` and `erasing` count all pseudonyms whose erasure was ever requested.
   * @returns {Promise<SyncOutcome>}
   */
  erase() {
    return this.#alone(async () => {
      const rows = await this.#store.read();
      const asked = await erasuresOf(rows);
      const { ledger: _, shufflers: _heads, erasures: kept, pause: pauses, shuffled, ...rest } = rows;
      // Erasing does not bypass a pause: new erasure requests wait for its end, too.
      const over = kept.length + asked.length === 0 ? pauses : [];
      // A second bundle for a shuffled task would be another one of the same person.
      const put = { erasures: asked, shuffled: shuffled.map((row) => ({ ...row, bundle: null })) };
      await this.#store.commit({ remove: { ...rest, pause: over }, put });
      return this.#send(await this.#sender.erase());
    });
  }

  /** Close the store. All other methods throw `RequestError` from then on. */
  close() {
    this.#store.close?.();
    this.#store = CLOSED;
    this.#sender = new Sender(CLOSED, this.#collector, this.#clock);
  }

  /** @param {import("./store.js").Rows} rows */
  #refuseMoved({ owner: [owner] }) {
    refuseMoved(owner?.origin ?? null, this.#collector.origin);
  }

  /**
   * Return the task at an address. During a backoff nothing is downloaded: null unless it is known.
   * @param {string} address
   * @param {import("./store.js").Rows["pause"]} pauses
   */
  async #current(address, pauses) {
    if (this.#sender.tooEarly(pauses) === null)
      this.#task = await wireTask.loads(await this.#collector.task(address), address);
    return this.#task?.address === address ? this.#task : null;
  }

  /**
   * Drop late reports, and send the others.
   * @param {import("./sending/sender.js").Asked} asked
   */
  async #send(asked) {
    const late = await this.#dropLate();
    return { ...(await this.#sender.upload(asked)), late };
  }

  /** Drop reports that the collector no longer accepts. */
  async #dropLate() {
    const { outbox, reported } = await this.#store.read();
    const old = outbox.filter(({ until }) => until <= this.#clock());
    const remove = { outbox: old, reported: dueAgain(reported, old) };
    if (old.length > 0) await this.#store.commit({ remove });
    return old.length;
  }

  /**
   * @param {Task} task
   * @param {Channel} channel
   * @param {number} epoch
   */
  async #answer(task, channel, epoch) {
    if (epoch < 0) return [];
    const rows = await this.#store.read();
    const words = this.#words ?? secretWord;
    const { change, refusals } = await round(ownerOf(rows), rows, task, channel, epoch, words);
    await this.#store.commit(change);
    return refusals;
  }
}
