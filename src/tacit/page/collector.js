/** The collector as the device sees it: same origin, no cookies, no referrer. */

import { DataError, TacitError } from "./errors.js";
import { fields, listed } from "./strict.js";

/** @typedef {import("./hashing.js").Bytes} Bytes */
/** @typedef {typeof globalThis.fetch} Fetch */

/** Why a report is not stored. @typedef {{ readonly id: string, readonly problem: string,
 *   readonly detail: string }} Refusal */
/** What an upload came to; `status` 0: there was no answer at all. `retryAfter`: seconds.
 * @typedef {{ readonly status: number, readonly detail: string,
 *   readonly refused: readonly Refusal[] | null, readonly retryAfter: number }} Outcome
 */

/** @type {RequestInit} */
const QUIET = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error" };
const REDIRECT = 300; // or another of that kind: a browser does not say
const MOST_WAIT = 86_400; // seconds that a Retry-After is believed
const ADDRESS = /^[0-9a-f]{64}$/;

export class Collector {
  #fetch;

  /**
   * `origin`: whom the page came from, and the only one that it talks to.
   * @param {Fetch} [fetch]
   * @param {string} [origin]
   */
  constructor(
    fetch = (...request) => globalThis.fetch(...request),
    origin = globalThis.location?.origin ?? "",
  ) {
    this.#fetch = fetch;
    this.origin = origin;
  }

  /**
   * The address of the task to answer first.
   * @returns {Promise<string>}
   */
  async firstTask() {
    const { tasks } = fields(await this.#json("/v1/tasks"), "The list of tasks", ["tasks"]);
    const [first] = listed(tasks, "tasks", "The list of tasks", addressOrNothing);
    if (first === undefined) throw new DataError("The provider asks nothing at the moment.");
    return first;
  }

  /**
   * The bytes at a task's address; whether they are that task is for `readTask` to say.
   * @param {string} address
   * @returns {Promise<Bytes>}
   */
  async task(address) {
    return bytesOf(await this.#ask(`/v1/tasks/${address}`));
  }

  /**
   * The address of the newest item model; null where there is none yet.
   * @param {string} task
   * @returns {Promise<string | null>}
   */
  async newestModel(task) {
    const answer = await this.#answer(`/v1/tasks/${task}/model`, { cache: "no-cache" });
    if (answer.status === 404) return null;
    const { model } = fields(await (await accepted(answer)).json(), "The model's answer", [
      "model",
    ]);
    return addressOrNothing(model) ?? null;
  }

  /**
   * @param {string} address
   * @returns {Promise<Bytes>}
   */
  async model(address) {
    return bytesOf(await this.#ask(`/v1/models/${address}`));
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
   * @param {import("./store.js").Erasure} erasure
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
    } catch {
      return {
        status: 0,
        detail: "The collector cannot be reached.",
        refused: null,
        retryAfter: 0,
      };
    }
  }

  /** @param {string} path */
  async #json(path) {
    /** @type {unknown} */
    const value = await (await this.#ask(path, { cache: "no-cache" })).json();
    return value;
  }

  /**
   * @param {string} path
   * @param {RequestInit} [request]
   */
  async #ask(path, request) {
    return accepted(await this.#answer(path, request));
  }

  /**
   * @param {string} path
   * @param {RequestInit} [request]
   */
  async #answer(path, request) {
    try {
      return await this.#fetch(path, { ...QUIET, ...request });
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
 * @param {Response} answer
 * @returns {Promise<Bytes>}
 */
async function bytesOf(answer) {
  return new Uint8Array(await answer.arrayBuffer());
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
  /** @type {unknown} */
  const problem = await answer.json().catch(() => null);
  const known = typeof problem === "object" && problem !== null ? problem : {};
  const detail = "detail" in known && typeof known.detail === "string" ? known.detail : "";
  const refused = "refused" in known ? refusals(known.refused) : null;
  return {
    ...{ status: answer.status, detail, refused },
    retryAfter: seconds(answer.headers.get("Retry-After") ?? ""),
  };
}

/**
 * Null where the answer does not say which reports it means: then none may be given up.
 * @param {unknown} entries
 * @returns {Refusal[] | null}
 */
function refusals(entries) {
  const read = Array.isArray(entries) ? entries.map(refusal) : [null];
  return read.every((one) => one !== null) ? read : null;
}

/**
 * @param {unknown} entry
 * @returns {Refusal | null}
 */
function refusal(entry) {
  if (typeof entry !== "object" || entry === null || !("id" in entry)) return null;
  return {
    id: String(entry.id),
    problem: "problem" in entry ? String(entry.problem) : "",
    detail: "detail" in entry ? String(entry.detail) : "no reason given",
  };
}

/** @param {string} text */
function seconds(text) {
  return /^[0-9]{1,9}$/.test(text) ? Math.min(Number(text), MOST_WAIT) : 0;
}

/** @param {unknown} value */
function addressOrNothing(value) {
  return typeof value === "string" && ADDRESS.test(value) ? value : undefined;
}
