/**
 * The device: keeps the ratings, answers through a verified channel, and sends.
 *
 * Debit, draw, the answer and the report's bytes reach the disk in one transaction before anything
 * is sent. A crash may waste epsilon; it never overspends it and never draws twice.
 */

import { secretWord } from "./answering/draw.js";
import { dueAgain } from "./answering/due.js";
import { erasuresOf } from "./sending/erasing.js";
import { BudgetError, RequestError } from "./errors.js";
import { exported } from "./export.js";
import { nano } from "./answering/ledger.js";
import { questionOf } from "./sending/outbox.js";
import { SECRET_BYTES } from "./answering/pseudonym.js";
import { round } from "./answering/round.js";
import { Sender } from "./sending/sender.js";
import * as wireTask from "./documents/task.js";
import { choose, refuseAnothers } from "./documents/task.js";
import { hasOneLevel } from "./documents/scale.js";
import { decimal, shortest } from "./documents/decimals.js";

/** @typedef {import("./documents/channel.js").Channel} Channel */
/** @typedef {import("./store.js").Outgoing} Outgoing */
/** @typedef {import("./store.js").Owner} Owner */
/** @typedef {import("./store.js").Rows} Rows */
/** @typedef {import("./documents/task.js").Task} Task */

/**
 * The outside world; all but `store` and `collector` are replaced in tests only. `clock`: Unix
 * seconds. `alone`: runs one after another, in all tabs of this browser.
 * @typedef {{ readonly store: import("./store.js").Store,
 *   readonly collector: Pick<import("./sending/collector.js").Collector, "task" | "send" | "erase" | "origin">,
 *   readonly clock?: () => number, readonly words?: import("./answering/draw.js").Words,
 *   readonly alone?: <T>(work: () => Promise<T>) => Promise<T> }} World
 */

const NOT_BEGUN = "This task has not begun: nothing is answered yet.";
const AMOUNT = /^[0-9]{1,9}(\.[0-9]{1,18})?$/;

/**
 * What became of reports in a sync.
 *
 * `stored`: acknowledged by the collector. `givenUp`: refused by it for good. `late`: dropped,
 * because their epoch is past the task's window. `waiting`: not acknowledged yet. `again`: Unix
 * seconds before which another sync sends nothing; null when it may send at once. `refused`: ratings
 * that the lifetime limit left without an answer of their own; `refusal`: why the first of them.
 * `erased`: names that the collector erased; `erasing`: those that it was asked to erase and has not
 * said so. `notes`: a sentence for each thing the collector did not like, and for a task that has
 * not begun.
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

  /** @param {World} world */
  constructor({ store, collector, clock = () => Date.now() / 1000, words, alone = inAllTabs }) {
    this.#store = store;
    this.#collector = collector;
    this.#clock = clock;
    this.#words = words;
    this.#alone = alone;
    this.#sender = new Sender(store, collector, clock);
  }

  /** Everything the device holds. */
  read() {
    return this.#store.read();
  }

  /**
   * Agree to answer `task`. `mostEpsilon`: what one answer may cost at most, `lifetime`: what all of
   * them together may, in nats, as decimals. Throws `RequestError` for what is no such decimal,
   * `CertificateError` for a task of another provider, or one that asks for more.
   * @param {Task} task
   * @param {{ mostEpsilon: string, lifetime: string }} terms
   */
  async enrol(task, { mostEpsilon, lifetime }) {
    for (const epsilon of [mostEpsilon, lifetime]) {
      if (!AMOUNT.test(epsilon))
        throw new RequestError(`Epsilon '${epsilon}' is not a plain decimal such as 0.5.`);
    }
    refuseAnothers(task, this.#collector.origin);
    choose(task, mostEpsilon);
    const limit = nano(lifetime);
    await this.#alone(async () => {
      const { owner } = await this.#store.read();
      const secret = owner[0]?.secret ?? crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
      const { address, question } = task;
      const terms = { secret, task: address, question, maximum: mostEpsilon, limit };
      await this.#store.commit({ put: { owner: [{ self: "owner", ...terms }] } });
    });
  }

  /**
   * Whether what `task` asks was agreed to already, in whichever format; from now on it is asked in
   * this one. Throws `CertificateError` for a task of another provider.
   * @param {Task} task
   * @returns {Promise<boolean>}
   */
  meet(task) {
    refuseAnothers(task, this.#collector.origin);
    return this.#alone(async () => {
      const [owner] = (await this.#store.read()).owner;
      if (owner === undefined || questionOf(owner) !== task.question) return false;
      const { address, question } = task;
      if (owner.task === address) return true;
      await this.#store.commit({ put: { owner: [{ ...owner, task: address, question }] } });
      return true;
    });
  }

  /**
   * Keep the token that the provider gave the person; it goes with every upload.
   * @param {string} token
   */
  admit(token) {
    return this.#store.commit({ put: { enrolment: [{ self: "token", token }] } });
  }

  /**
   * Keep the person's true rating of an item at home, or forget it (null). Tells nobody. On the
   * scale `there` 1 says that the item is there, and null that it is not.
   *
   * Throws `RequestError` for an item that is not in the catalogue and a rating off its scale. The
   * sentences name neither: they may end up in a log.
   * @param {Task} task
   * @param {string | number} item
   * @param {string | number | null} rating
   */
  async rate(task, item, rating) {
    const place = task.items.findIndex((one) => String(one) === String(item));
    if (place < 0) throw new RequestError("This item is not in the catalogue of the task.");
    const key = { task: task.question, place };
    if (rating === null)
      return this.#store.commit({ remove: { ratings: [{ ...key, level: "" }] } });
    const read = decimal(String(rating));
    const level = read === undefined ? "" : shortest(read);
    if (!task.scale.levels.includes(level))
      throw new RequestError(off(task.scale));
    return this.#store.commit({ put: { ratings: [{ ...key, level }] } });
  }

  /** What the device holds about its owner, for their eyes, as JSON; not the secret. */
  async export() {
    return exported(await this.#store.read());
  }

  /**
   * Ask for what is to be erased, answer what is due now and send what waits.
   *
   * Throws what `loads` of a task, `refuseAnothers` and `choose` throw, before anything is drawn,
   * and `BudgetError` where a first report costs more than is left; what waits is sent all the same.
   * @returns {Promise<SyncOutcome>}
   */
  sync() {
    return this.#alone(async () => {
      const asked = await this.#sender.erase();
      const owner = ownerOf(await this.#store.read());
      const task = await wireTask.loads(await this.#collector.task(owner.task), owner.task);
      refuseAnothers(task, this.#collector.origin);
      const channel = choose(task, owner.maximum);
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
  }

  /**
   * Send what waits in the outbox, and nothing new.
   * @returns {Promise<SyncOutcome>}
   */
  resend() {
    return this.#alone(async () => {
      const late = await this.#dropLate();
      return { ...(await this.#sender.send()), late };
    });
  }

  /**
   * Forget everything but the sum spent, which starting over does not give back, and ask the
   * provider to forget what was reported, now and, until it says so, whenever anything is sent.
   *
   * The keys to ask with reach the disk in the transaction that forgets the secret behind them.
   * `erased` and `erasing` count all names that it was asked to erase, now or before.
   * @returns {Promise<SyncOutcome>}
   */
  erase() {
    return this.#alone(async () => {
      const rows = await this.#store.read();
      const asked = await erasuresOf(rows);
      const { ledger: _, erasures: kept, pause: pauses, ...rest } = rows;
      // Erasing is no way around a pause: what is asked now waits for its end, too.
      const over = kept.length + asked.length === 0 ? pauses : [];
      await this.#store.commit({ remove: { ...rest, pause: over }, put: { erasures: asked } });
      return this.#sender.send();
    });
  }

  /** Reports that nobody takes any more. */
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

/**
 * @param {Rows} rows
 * @returns {Owner}
 */
export function ownerOf({ owner: [owner] }) {
  if (owner === undefined) throw new RequestError("You have not agreed to answer anything yet.");
  return owner;
}

/** @param {import("./documents/scale.js").Scale} scale */
function off(scale) {
  if (!hasOneLevel(scale)) return `This rating is not on the scale ${scale.text}.`;
  return `On the scale ${scale.text} an item is there, given as 1, or it is not, given as null.`;
}

/**
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
async function inAllTabs(work) {
  return await navigator.locks.request("tacit", work);
}
