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
import { amount } from "./answering/ledger.js";
import { questionOf } from "./sending/outbox.js";
import { SECRET_BYTES } from "./answering/pseudonym.js";
import { round } from "./answering/round.js";
import { Sender } from "./sending/sender.js";
import { choose, epochOf, readTask, refuseAnothers } from "./documents/task.js";

/** @typedef {import("./documents/channel.js").Channel} Channel */
/** @typedef {import("./store.js").Outgoing} Outgoing */
/** @typedef {import("./store.js").Owner} Owner */
/** @typedef {import("./store.js").Rows} Rows */
/** @typedef {import("./documents/task.js").Task} Task */

/**
 * The outside world; all but `store` and `collector` are replaced in tests only. `now`: Unix
 * seconds. `alone`: runs one after another, in all tabs of this browser.
 * @typedef {{ readonly store: import("./store.js").Store,
 *   readonly collector: Pick<import("./sending/collector.js").Collector, "task" | "send" | "erase" | "origin">,
 *   readonly now?: () => number, readonly words?: import("./answering/draw.js").Words,
 *   readonly alone?: <T>(work: () => Promise<T>) => Promise<T> }} World
 */

const NOT_BEGUN = "This task has not begun: nothing is answered yet.";

/**
 * `refused`: ratings that the lifetime limit left without an answer of their own.
 * `dropped`: reports that became too old to be taken. `again`: seconds until another attempt; none
 * is made before. `erasing`: names that the provider was asked to erase and has not said so.
 * @typedef {{ readonly made: number, readonly refused: number, readonly dropped: number,
 *   readonly stored: number, readonly waiting: number, readonly complaints: readonly string[],
 *   readonly again: number | null, readonly erasing: number }} Synced
 */

export class Client {
  #store;
  #collector;
  #now;
  #words;
  #alone;
  #sender;

  /** @param {World} world */
  constructor({ store, collector, now = () => Date.now() / 1000, words, alone = inAllTabs }) {
    this.#store = store;
    this.#collector = collector;
    this.#now = now;
    this.#words = words;
    this.#alone = alone;
    this.#sender = new Sender(store, collector, now);
  }

  /** Everything the device holds. */
  read() {
    return this.#store.read();
  }

  /**
   * Agree to answer `task`, with at most `maximum` a rating and `limit` in a lifetime (decimals).
   * Throws `CertificateError` for a task of another provider.
   * @param {Task} task
   * @param {{ maximum: string, limit: string }} terms
   */
  async enrol(task, { maximum, limit }) {
    refuseAnothers(task, this.#collector.origin);
    choose(task, maximum);
    const nanos = amount(limit);
    await this.#alone(async () => {
      const { owner } = await this.#store.read();
      const secret = owner[0]?.secret ?? crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
      const { address, question } = task;
      const terms = { secret, task: address, question, maximum, limit: nanos };
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
   * Remember a true rating, or forget it (null). Nothing is sent.
   * @param {Task} task
   * @param {number} place
   * @param {string | null} level
   */
  async rate(task, place, level) {
    if (task.items[place] === undefined)
      throw new RequestError(`Place ${place} is not in this catalogue.`);
    if (level === null) {
      return this.#store.commit({
        remove: { ratings: [{ task: task.question, place, level: "" }] },
      });
    }
    if (!task.scale.levels.includes(level))
      throw new RequestError(`This rating is not on the scale ${task.scale.text}.`);
    return this.#store.commit({ put: { ratings: [{ task: task.question, place, level }] } });
  }

  /**
   * Ask for what is to be erased, answer what is due now and send what waits.
   *
   * Throws what `readTask`, `refuseAnothers` and `choose` throw, before anything is drawn, and
   * `BudgetError` where a first report costs more than is left; what waits is sent all the same.
   * @returns {Promise<Synced>}
   */
  sync() {
    return this.#alone(async () => {
      const asked = await this.#sender.erase();
      const owner = ownerOf(await this.#store.read());
      const task = await readTask(await this.#collector.task(owner.task), owner.task);
      refuseAnothers(task, this.#collector.origin);
      const channel = choose(task, owner.maximum);
      const dropped = await this.#drop();
      const made = await this.#answer(task, channel).catch(async (error) => {
        if (error instanceof BudgetError) await this.#sender.upload(asked);
        throw error;
      });
      const sent = await this.#sender.upload(asked);
      return { ...sent, ...made, dropped, complaints: [...sent.complaints, ...made.complaints] };
    });
  }

  /**
   * Send what waits in the outbox, and nothing new.
   * @returns {Promise<Synced>}
   */
  resend() {
    return this.#alone(async () => {
      const dropped = await this.#drop();
      const sent = await this.#sender.send();
      return { made: 0, refused: 0, dropped, ...sent };
    });
  }

  /**
   * Forget everything but the sum spent, which starting over does not give back, and ask the
   * provider to forget what was reported, now and, until it says so, whenever anything is sent.
   *
   * The keys to ask with reach the disk in the transaction that forgets the secret behind them.
   * `asked`: names that it was asked to erase, now or before.
   * @returns {Promise<Synced & { asked: number }>}
   */
  erase() {
    return this.#alone(async () => {
      const rows = await this.#store.read();
      const asked = await erasuresOf(rows);
      const { ledger: _, erasures: kept, pause: pauses, ...rest } = rows;
      // Erasing is no way around a pause: what is asked now waits for its end, too.
      const count = kept.length + asked.length;
      const over = count === 0 ? pauses : [];
      await this.#store.commit({ remove: { ...rest, pause: over }, put: { erasures: asked } });
      return { made: 0, refused: 0, dropped: 0, ...(await this.#sender.send()), asked: count };
    });
  }

  /** Reports that nobody takes any more. */
  async #drop() {
    const { outbox, reported } = await this.#store.read();
    const old = outbox.filter(({ until }) => until <= this.#now());
    const remove = { outbox: old, reported: dueAgain(reported, old) };
    if (old.length > 0) await this.#store.commit({ remove });
    return old.length;
  }

  /**
   * @param {Task} task
   * @param {Channel} channel
   */
  async #answer(task, channel) {
    const epoch = epochOf(task, this.#now());
    if (epoch < 0) return { made: 0, refused: 0, complaints: [NOT_BEGUN] };
    const rows = await this.#store.read();
    const words = this.#words ?? secretWord;
    const { change, made, refused } = await round(ownerOf(rows), rows, task, channel, epoch, words);
    await this.#store.commit(change);
    return { made, refused, complaints: /** @type {string[]} */ ([]) };
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

/**
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
async function inAllTabs(work) {
  return await navigator.locks.request("tacit", work);
}
