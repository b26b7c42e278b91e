/**
 * The device: keeps the ratings, answers through a verified channel, and sends.
 *
 * Debit, draw, the answer and the report's bytes reach the disk in one transaction before anything
 * is sent. A crash may waste epsilon; it never overspends it and never draws twice.
 */

import { rowOf } from "./documents/channel.js";
import { secretWord } from "./answering/draw.js";
import { dueAgain } from "./answering/due.js";
import { erasuresOf } from "./sending/erasing.js";
import { RequestError } from "./errors.js";
import { amount } from "./answering/ledger.js";
import { addressesOf, askToErase, pause, questionOf, send, uploads } from "./sending/outbox.js";
import { SECRET_BYTES } from "./answering/pseudonym.js";
import { round } from "./answering/round.js";
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

const FORGIVEN = 100_000; // seconds: a longer pause than any comes from a clock that was wrong

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

  /** @param {World} world */
  constructor({ store, collector, now = () => Date.now() / 1000, words, alone = inAllTabs }) {
    this.#store = store;
    this.#collector = collector;
    this.#now = now;
    this.#words = words;
    this.#alone = alone;
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
    for (const channel of task.channels) rowOf(channel, level);
    return this.#store.commit({ put: { ratings: [{ task: task.question, place, level }] } });
  }

  /**
   * Answer what is due now and send what waits.
   *
   * Throws what `readTask`, `refuseAnothers` and `choose` throw, before anything is drawn, and
   * `BudgetError` where a first report costs more than is left.
   * @returns {Promise<Synced>}
   */
  sync() {
    return this.#alone(async () => {
      const owner = ownerOf(await this.#store.read());
      const task = await readTask(await this.#collector.task(owner.task), owner.task);
      refuseAnothers(task, this.#collector.origin);
      const dropped = await this.#drop();
      const made = await this.#answer(task, choose(task, owner.maximum));
      return { ...made, dropped, ...(await this.#send()) };
    });
  }

  /**
   * Send what waits in the outbox, and nothing new.
   * @returns {Promise<Synced>}
   */
  resend() {
    return this.#alone(async () => {
      const dropped = await this.#drop();
      const sent = await this.#send();
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
      return { made: 0, refused: 0, dropped: 0, ...(await this.#send()), asked: count };
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
    if (epoch < 0) throw new RequestError("This task has not begun; nothing is answered yet.");
    const rows = await this.#store.read();
    const words = this.#words ?? secretWord;
    const { change, made, refused } = await round(ownerOf(rows), rows, task, channel, epoch, words);
    await this.#store.commit(change);
    return { made, refused };
  }

  async #send() {
    const { owner, outbox, enrolment, erasures, pause: pauses } = await this.#store.read();
    const token = enrolment[0]?.token ?? null;
    const complaints = /** @type {string[]} */ ([]);
    const sent = { stored: 0, waiting: outbox.length, complaints, erasing: erasures.length };
    const wait = (pauses[0]?.next ?? -Infinity) - this.#now();
    if (wait > 0 && wait < FORGIVEN) return { ...sent, again: wait };
    const again = await this.#erase(erasures, sent);
    if (again !== null) return { ...sent, again };
    /** @type {Set<string>} */
    const wrong = new Set();
    for (const rows of uploads(outbox)) {
      const task = rows[0]?.task ?? "";
      if (wrong.has(task)) continue;
      const became = await send(rows, addressesOf(rows, owner), this.#collector, token);
      await this.#settle(became);
      sent.stored += became.stored.length;
      sent.waiting -= became.stored.length + became.refused.length;
      sent.complaints.push(...became.complaints);
      if (became.again) return { ...sent, again: await this.#postpone(became.retryAfter) };
      if (became.kept.length > 0) wrong.add(task);
    }
    // Only an outbox that got through ends a failure; an empty one says nothing.
    if (outbox.length > 0 && sent.waiting === 0) {
      await this.#store.commit({ remove: { pause: pauses } });
    }
    return { ...sent, again: null };
  }

  /**
   * Ask for every erasure that is not acknowledged; gives the seconds to wait where there is no
   * time for it now.
   * @param {readonly import("./store.js").Erasure[]} erasures
   * @param {{ complaints: string[], erasing: number }} sent
   */
  async #erase(erasures, sent) {
    for (const erasure of erasures) {
      const became = await askToErase(erasure, this.#collector);
      sent.complaints.push(...became.complaints);
      if (became.again) return await this.#postpone(became.retryAfter);
      if (!became.erased) continue;
      await this.#store.commit({ remove: { erasures: [erasure] } });
      sent.erasing -= 1;
    }
    return null;
  }

  /** @param {import("./sending/outbox.js").Sent} became */
  async #settle({ stored, refused, due }) {
    const { reported } = await this.#store.read();
    await this.#store.commit({
      remove: { outbox: [...stored, ...refused], reported: dueAgain(reported, due) },
    });
  }

  /** @param {number} retryAfter */
  async #postpone(retryAfter) {
    const { pause: pauses } = await this.#store.read();
    const before = pauses[0]?.attempts ?? 0;
    const seconds = pause(before, retryAfter);
    const next = this.#now() + seconds;
    await this.#store.commit({ put: { pause: [{ self: "pause", attempts: before + 1, next }] } });
    return seconds;
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
