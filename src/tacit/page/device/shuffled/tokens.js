/**
 * One-time tokens of a device: signed blindly by the provider, long before a bundle is sent.
 *
 * A token is requested at the first sync that finds its task, whatever the user's items. The bundle is
 * sent at the first sync after a random moment of the second quarter of the time that is then left.
 * The provider learns who requests a token, and when. It sees the token again in a batch, without a
 * sender and without a time, and cannot recognize it.
 */

import { FORGIVEN, isLater, pause } from "../sending/outbox.js";
import { blinded, newToken, unblinded } from "./blind_tokens.js";

/** @typedef {import("../documents/hashing.js").Bytes} Bytes */
/** @typedef {import("../store.js").Store} Store */
/** @typedef {import("../store.js").Token} Token */
/** @typedef {import("./shuffler.js").Shuffler} Shuffler */
/** @typedef {import("./task.js").ShuffledTask} ShuffledTask */

const [OK, RANGE] = [200, 2 ** 32];
const EMPTY = new Uint8Array();
/** Reasons for statuses of a signing request. @type {{ readonly [status: number]: string }} */
const REFUSALS = {
  401: "the provider requires another token of its customers",
  404: "the provider signs no tokens for this task",
  409: "the provider has signed another token of this customer",
  410: "the task is closed",
};

/** Tokens of one user, in a store. */
export class OneTimeTokens {
  #store;
  #provider;
  #clock;

  /**
   * `provider`: sends requests to the provider, with the user's enrolment token there. `clock`: Unix
   * seconds.
   * @param {Store} store
   * @param {Pick<Shuffler, "post">} provider
   * @param {() => number} clock
   */
  constructor(store, provider, clock) {
    this.#store = store;
    this.#provider = provider;
    this.#clock = clock;
  }

  /**
   * Return the signed token of a task if its bundle may be sent now, null if not yet. For a task that
   * requires no token, it is empty. A token without a signature is requested, with the same bytes
   * every time. Rejects with `CertificateError` for a response that is not a signature with the key
   * of the task.
   * @param {ShuffledTask} task
   * @param {string[]} notes gets a sentence on a refusal
   * @returns {Promise<Bytes | null>}
   */
  async obtain(task, notes) {
    if (task.signer === null) return EMPTY;
    const { tokens } = await this.#store.read();
    const known = tokens.find((row) => row.task === task.address) ?? (await this.#made(task));
    const row = known.signature === null ? await this.#requested(task, known, notes) : known;
    const { token, signature, due } = row;
    if (signature === null || this.#clock() < due) return null;
    return Uint8Array.of(...token, ...signature);
  }

  /**
   * Store a new token before it is sent: the provider signs one message per customer.
   * @param {ShuffledTask} task
   */
  async #made({ address: task, signer }) {
    const token = newToken();
    const { message, inverse } = await blinded(token, signer ?? EMPTY);
    const rest = { signature: null, due: 0, attempts: 0, next: 0 };
    return this.#put({ task, token, message, inverse, ...rest });
  }

  /**
   * @param {ShuffledTask} task
   * @param {Token} row
   * @param {string[]} notes
   */
  async #requested({ address, signer, closes }, row, notes) {
    const now = this.#clock();
    if (now < row.next && row.next < now + FORGIVEN) return row;
    const answer = await this.#provider.post(`/v1/shuffled/${address}/signature`, row.message);
    if (isLater(answer.status)) {
      const next = now + pause(row.attempts, answer.retryAfter);
      return this.#put({ ...row, attempts: row.attempts + 1, next });
    }
    if (answer.status !== OK) {
      const reason = REFUSALS[answer.status] ?? "the provider cannot parse the request";
      notes.push(`No token was signed: ${reason} (status ${answer.status}).`);
      return row;
    }
    const signature = await unblinded(row.token, signer ?? EMPTY, answer.body, row.inverse);
    const [word = 0] = crypto.getRandomValues(new Uint32Array(1));
    const due = now + ((closes - now) * (1 + word / RANGE)) / 4;
    // What would link the token to the request is deleted.
    return this.#put({ ...row, message: EMPTY, inverse: EMPTY, signature, due });
  }

  /** @param {Token} row */
  async #put(row) {
    await this.#store.commit({ put: { tokens: [row] } });
    return row;
  }
}
