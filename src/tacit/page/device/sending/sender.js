/** Sends pending erasures, then the outbox, unless a backoff is in progress. */

import { originOf } from "../answering/consent.js";
import { dueAgain } from "../answering/due.js";
import { addressesOf, askToErase, FORGIVEN, pause, questionOf, send, uploads } from "./outbox.js";

/** @typedef {Pick<import("./collector.js").Collector, "send" | "erase" | "origin">} Uploads */
/** @typedef {import("../client.js").SyncOutcome} SyncOutcome */
/** The outcome of pending erasures.
 * @typedef {Pick<SyncOutcome, "erased" | "erasing" | "notes">} Asked */

export class Sender {
  #store;
  #collector;
  #clock;

  /**
   * @param {import("../store.js").Store} store
   * @param {Uploads} collector
   * @param {() => number} clock Unix seconds
   */
  constructor(store, collector, clock) {
    this.#store = store;
    this.#collector = collector;
    this.#clock = clock;
  }

  /**
   * Request every unconfirmed erasure, unless a backoff is in progress.
   * @returns {Promise<Asked>}
   */
  async erase() {
    const { erasures: all, pause: pauses } = await this.#store.read();
    const erasures = all.filter(({ origin = null }) => this.#isHere(origin));
    const notes = /** @type {string[]} */ ([]);
    const asked = { erased: 0, erasing: erasures.length, notes };
    if (this.tooEarly(pauses) !== null) return asked;
    for (const erasure of erasures) {
      const became = await askToErase(erasure, this.#collector);
      notes.push(...became.notes);
      if (became.later) {
        await this.#postpone(became.retryAfter);
        return asked;
      }
      if (!became.erased) continue;
      await this.#store.commit({ remove: { erasures: [erasure] } });
      asked.erased += 1;
      asked.erasing -= 1;
    }
    return asked;
  }

  /**
   * Send the outbox, unless a backoff is in progress.
   * @param {Asked} asked
   * @returns {Promise<SyncOutcome>}
   */
  async upload(asked) {
    const { owner, left, outbox: all, enrolment, pause: pauses } = await this.#store.read();
    const outbox = all.filter(({ task }) => this.#isHere(originOf({ owner, left }, task)));
    const token = enrolment[0]?.token ?? null;
    const sent = {
      ...{ stored: 0, givenUp: 0, late: 0, waiting: outbox.length, refused: 0, refusal: null },
      ...{ ...asked, notes: [...asked.notes] },
    };
    const again = this.tooEarly(pauses);
    if (again !== null) return { ...sent, again };
    /** @type {Set<string>} */
    const wrong = new Set();
    for (const rows of uploads(outbox, owner[0] && questionOf(owner[0]))) {
      const task = rows[0]?.task ?? "";
      if (wrong.has(task)) continue;
      const became = await send(rows, addressesOf(rows, { owner, left }), this.#collector, token);
      await this.#settle(became);
      sent.stored += became.stored.length;
      sent.givenUp += became.refused.length;
      sent.waiting -= became.stored.length + became.refused.length;
      sent.notes.push(...became.notes);
      if (became.later) return { ...sent, again: await this.#postpone(became.retryAfter) };
      if (became.kept.length > 0) wrong.add(task);
    }
    // Only a complete upload ends a backoff. An empty outbox is not evidence of one.
    if (outbox.length > 0 && sent.waiting === 0) {
      await this.#store.commit({ remove: { pause: pauses } });
    }
    return { ...sent, again: null };
  }

  /**
   * Return the Unix seconds before which nothing may be sent, or null without a backoff.
   * @param {readonly import("../store.js").Pause[]} pauses
   */
  tooEarly([pause]) {
    const [next, now] = [pause?.next ?? -Infinity, this.#clock()];
    return now < next && next < now + FORGIVEN ? next : null;
  }

  /**
   * Return whether requests to an origin, null for any, go to this collector: a provider that moved
   * has another one.
   * @param {string | null} origin
   */
  #isHere(origin) {
    return origin === null || origin === this.#collector.origin;
  }

  /** @param {import("./outbox.js").Sent} became */
  async #settle({ stored, refused, due }) {
    const { reported } = await this.#store.read();
    await this.#store.commit({
      remove: { outbox: [...stored, ...refused], reported: dueAgain(reported, due) },
    });
  }

  /**
   * Store the next backoff and return its end, Unix seconds.
   * @param {number} retryAfter
   */
  async #postpone(retryAfter) {
    const { pause: pauses } = await this.#store.read();
    const before = pauses[0]?.attempts ?? 0;
    const next = this.#clock() + pause(before, retryAfter);
    await this.#store.commit({ put: { pause: [{ self: "pause", attempts: before + 1, next }] } });
    return next;
  }
}
