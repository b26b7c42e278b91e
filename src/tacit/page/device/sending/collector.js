/** The collector as the device sees it: same origin, no cookies, no referrer. */

import { DataError, TacitError } from "../errors.js";
import { firstTask, LONGEST, newestModel, problemOf } from "../documents/replies.js";

/** @typedef {import("../documents/hashing.js").Bytes} Bytes */
/** @typedef {typeof globalThis.fetch} Fetch */

/** @typedef {import("../documents/replies.js").Refusal} Refusal */
/** What an upload came to; `status` 0: there was no answer at all. `retryAfter`: seconds.
 * @typedef {{ readonly status: number, readonly detail: string,
 *   readonly refused: readonly Refusal[] | null, readonly retryAfter: number }} Outcome
 */

/** @type {RequestInit} */
const QUIET = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error" };
const REDIRECT = 300; // or another of that kind: a browser does not say
const MOST_WAIT = 86_400; // seconds that a Retry-After is believed
const [LONGEST_TASK, LONGEST_MODEL] = [1 << 24, 1 << 28]; // bytes
/** @type {RequestInit} */
const NEWEST = { cache: "no-cache" };

export class Collector {
  #fetch;

  /**
   * `origin`: whom the page came from, and the only one that it talks to. `place`: the same, and the
   * path that the page lies under.
   * @param {Fetch} [fetch]
   * @param {string} [origin]
   * @param {string} [place]
   */
  constructor(
    fetch = (...request) => globalThis.fetch(...request),
    origin = globalThis.location?.origin ?? "",
    place = globalThis.location ? new URL(".", globalThis.location.href).href.slice(0, -1) : "",
  ) {
    this.#fetch = fetch;
    this.origin = origin;
    this.place = place;
  }

  /**
   * The address of the task to answer first.
   * @returns {Promise<string>}
   */
  async firstTask() {
    const answer = await accepted(await this.#answer("/v1/tasks", NEWEST));
    const first = firstTask(await bytesOf(answer, LONGEST));
    if (first === null) throw new DataError("The provider asks nothing at the moment.");
    return first;
  }

  /**
   * The bytes at a task's address; whether they are that task is for `loads` of a task to say.
   * @param {string} address
   * @returns {Promise<Bytes>}
   */
  async task(address) {
    return bytesOf(await accepted(await this.#answer(`/v1/tasks/${address}`)), LONGEST_TASK);
  }

  /**
   * The address of the newest item model; null where there is none yet.
   * @param {string} task
   * @returns {Promise<string | null>}
   */
  async newestModel(task) {
    const answer = await this.#answer(`/v1/tasks/${task}/model`, NEWEST);
    if (answer.status === 404) return null;
    return newestModel(await bytesOf(await accepted(answer), LONGEST));
  }

  /**
   * @param {string} address
   * @returns {Promise<Bytes>}
   */
  async model(address) {
    return bytesOf(await accepted(await this.#answer(`/v1/models/${address}`)), LONGEST_MODEL);
  }

  /**
   * @param {string} task
   * @param {string} body
   * @param {string | null} token
   * @returns {Promise<Outcome>}
   */
  send(task, body, token) {
    return this.#post(`/v1/tasks/${task}/reports`, body, token);
  }

  /**
   * Asks to erase what was reported under the name that the key makes.
   * @param {import("../store.js").Erasure} erasure
   * @returns {Promise<Outcome>}
   */
  erase({ task, key, token }) {
    return this.#post(`/v1/tasks/${task}/erasures`, JSON.stringify({ key }), token);
  }

  /**
   * @param {string} path
   * @param {string} body
   * @param {string | null} token
   * @returns {Promise<Outcome>}
   */
  async #post(path, body, token) {
    const headers = new Headers({ "Content-Type": "application/json" });
    if (token !== null) headers.set("Authorization", `Bearer ${token}`);
    try {
      const redirect = /** @type {const} */ ("manual"); // an answer, and not "no answer"
      const request = { method: "POST", body, headers, redirect };
      return await outcome(await this.#answer(path, request));
    } catch (error) {
      if (error instanceof DataError) throw error;
      return {
        status: 0,
        detail: "The collector cannot be reached.",
        refused: null,
        retryAfter: 0,
      };
    }
  }

  /**
   * @param {string} path
   * @param {RequestInit} [request]
   */
  async #answer(path, request) {
    try {
      return await this.#fetch(this.place + path, { ...QUIET, ...request });
    } catch {
      throw new TacitError("The collector cannot be reached; try again later.");
    }
  }
}

/** @param {Response} answer */
async function accepted(answer) {
  if (answer.ok) return answer;
  throw new TacitError(
    `The collector answers ${answer.status} instead of a document; try again later.`,
  );
}

/**
 * The body of an answer; throws `DataError` where it is longer than `longest` bytes, of which no
 * more are read.
 * @param {Response} answer
 * @param {number} longest
 * @returns {Promise<Bytes>}
 */
async function bytesOf(answer, longest) {
  const reader = answer.body?.getReader();
  const parts = [];
  let size = 0;
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    parts.push(read.value);
    size += read.value.length;
    if (size <= longest) continue;
    await reader?.cancel();
    throw new DataError(`The collector's answer is longer than ${longest} bytes; not read.`);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * @param {Response} answer
 * @returns {Promise<Outcome>}
 */
async function outcome(answer) {
  if (answer.type === "opaqueredirect") {
    const detail = "It points elsewhere.";
    return { status: REDIRECT, detail, refused: null, retryAfter: 0 };
  }
  return {
    ...problemOf(await bytesOf(answer, LONGEST)),
    status: answer.status,
    retryAfter: seconds(answer.headers.get("Retry-After") ?? ""),
  };
}

/** @param {string} text */
function seconds(text) {
  return /^[0-9]{1,9}$/.test(text) ? Math.min(Number(text), MOST_WAIT) : 0;
}
