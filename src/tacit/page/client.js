/**
 * The device: keeps the ratings, answers through a verified channel, and sends.
 *
 * Debit, draw, the answer and the report's bytes reach the disk in one transaction before anything
 * is sent. A crash may waste epsilon; it never overspends it and never draws twice.
 */

import { rowOf } from "./channel.js";
import { secretWord } from "./draw.js";
import { RequestError } from "./errors.js";
import { amount } from "./ledger.js";
import { pause, send, uploads } from "./outbox.js";
import { SECRET_BYTES } from "./pseudonym.js";
import { round } from "./round.js";
import { choose, epochOf, readTask } from "./task.js";

/** @typedef {import("./channel.js").Channel} Channel */
/** @typedef {import("./store.js").Outgoing} Outgoing */
/** @typedef {import("./store.js").Owner} Owner */
/** @typedef {import("./store.js").Rows} Rows */
/** @typedef {import("./task.js").Task} Task */

/**
 * The outside world; all but `store` and `collector` are replaced in tests only. `now`: Unix
 * seconds. `alone`: runs one after another, in all tabs of this browser.
 * @typedef {{ readonly store: import("./store.js").Store,
 *   readonly collector: Pick<import("./collector.js").Collector, "task" | "send">,
 *   readonly now?: () => number, readonly words?: import("./draw.js").Words,
 *   readonly alone?: <T>(work: () => Promise<T>) => Promise<T> }} World
 */

const FORGIVEN = 100_000; // seconds: a longer pause than any comes from a clock that was wrong

/**
 * `refused`: ratings that the lifetime limit left without an answer of their own.
 * `dropped`: reports that became too old to be taken. `again`: seconds until another attempt; none
 * is made before.
 * @typedef {{ readonly made: number, readonly refused: number, readonly dropped: number,
 *   readonly stored: number, readonly waiting: number, readonly complaints: readonly string[],
 *   readonly again: number | null }} Synced
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
   * @param {Task} task
   * @param {{ maximum: string, limit: string }} terms
   */
  async enrol(task, { maximum, limit }) {
    choose(task, maximum);
    const nanos = amount(limit);
    await this.#alone(async () => {
      const { owner } = await this.#store.read();
      const secret = owner[0]?.secret ?? crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
      const terms = { secret, task: task.address, maximum, limit: nanos };
      await this.#store.commit({ put: { owner: [{ self: "owner", ...terms }] } });
    });
  }

  /**
   * Keep the token that the provider gave her; it goes with every upload.
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
        remove: { ratings: [{ task: task.address, place, level: "" }] },
      });
    }
    for (const channel of task.channels) rowOf(channel, level);
    return this.#store.commit({ put: { ratings: [{ task: task.address, place, level }] } });
  }

  /**
   * Answer what is due now and send what waits.
   *
   * Throws what `readTask` and `choose` throw, before anything is drawn, and `BudgetError` where a
   * first report costs more than is left.
   * @returns {Promise<Synced>}
   */
  sync() {
    return this.#alone(async () => {
      const owner = ownerOf(await this.#store.read());
      const task = await readTask(await this.#collector.task(owner.task), owner.task);
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

  /** Forget everything but the sum spent: starting over does not give it back. */
  erase() {
    return this.#alone(async () => {
      const { ledger: _, ...rest } = await this.#store.read();
      await this.#store.commit({ remove: rest });
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
    const { outbox, enrolment, pause: pauses } = await this.#store.read();
    const token = enrolment[0]?.token ?? null;
    const sent = { stored: 0, waiting: outbox.length, complaints: /** @type {string[]} */ ([]) };
    const wait = (pauses[0]?.next ?? -Infinity) - this.#now();
    if (wait > 0 && wait < FORGIVEN) return { ...sent, again: wait };
    /** @type {Set<string>} */
    const wrong = new Set();
    for (const rows of uploads(outbox)) {
      const task = rows[0]?.task ?? "";
      if (wrong.has(task)) continue;
      const became = await send(rows, this.#collector, token);
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

  /** @param {import("./outbox.js").Sent} became */
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
 * What these reports told last, and nobody took: it is due again, at no further cost.
 *
 * Only reports of one place: a report over slots comes again anyway, and what its cells repeat must
 * not hang on what became of it.
 * @param {readonly import("./store.js").Reported[]} reported
 * @param {readonly Outgoing[]} lost
 */
function dueAgain(reported, lost) {
  const told = new Set(lost.filter(({ single }) => single).map(nameOf));
  return reported.filter((last) => told.has(nameOf(last)));
}

/** @param {{ readonly task: string, readonly epoch: number, readonly place: number }} row */
function nameOf({ task, epoch, place }) {
  return `${task} ${epoch} ${place}`;
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
