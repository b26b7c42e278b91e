/** HTTP client of the collector: one origin, no cookies, no referrer. */

import { mustBe, options } from "../arguments.js";
import { isOrigin, isPrivate } from "../documents/origin.js";
import { DataError, RequestError, TacitError } from "../errors.js";
import { firstTask, LONGEST, newestModel, problemOf } from "./replies.js";

/** @typedef {import("../documents/hashing.js").Bytes} Bytes */
/** @typedef {typeof globalThis.fetch} Fetch */

/** @typedef {import("./replies.js").Refusal} Refusal */
/** The response to an upload. `status` is 0 if none was received. `retryAfter`: seconds.
 * @typedef {{ readonly status: number, readonly detail: string,
 *   readonly refused: readonly Refusal[] | null, readonly retryAfter: number }} Outcome
 */

/** @type {RequestInit} */
export const QUIET = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error" };
const REMEDY = "write new Collector({ origin: location.origin })";
export const REDIRECT = 300; // stands for all redirects: a browser hides the status
const MOST_WAIT = 86_400; // maximum Retry-After in seconds
const UNREACHABLE = "The collector cannot be reached; try again later.";
const [LONGEST_TASK, LONGEST_MODEL] = [1 << 24, 1 << 28]; // bytes
/** Seconds until an answer must be complete: other tabs wait for it. They do not wait for a model. */
export const DEADLINE = 120;
const MODEL_DEADLINE = 3600;
const TOKEN = /^[\x21-\x7e]{1,4096}$/;
/** @type {RequestInit} */
const NEWEST = { cache: "no-cache" };

export class Collector {
  #fetch;

  /**
   * `origin`: the origin of the collector, the only one that it contacts. Default: that of the page
   * or worker. `place`: the origin with the path under which the collector is served. Default: the
   * folder of the page, or a given origin. Throws `RequestError` for another option, and on a server
   * without an origin.
   * @param {{ readonly origin?: string, readonly place?: string, readonly fetch?: Fetch }} [given]
   */
  constructor(given = {}) {
    options(["origin", "place", "fetch"], given, "the options of a collector", REMEDY);
    const { location } = globalThis;
    const { origin = location?.origin, place = given.origin ?? folderOf(location) } = given;
    const { fetch = (...request) => globalThis.fetch(...request) } = given;
    if (!isOrigin(mustBe("string", origin, "the origin of a collector", REMEDY)))
      throw new RequestError(`The origin of a collector must be one of http or https; ${REMEDY}.`);
    mustBe("string", place, "the place of a collector", "write the origin and a path");
    if (place !== origin && (!place.startsWith(`${origin}/`) || place.endsWith("/")))
      throw new RequestError(`place must be ${origin} with a path such as /films.`);
    this.#fetch = mustBe("function", fetch, "a function such as fetch", "leave it out");
    this.origin = origin;
    this.place = place;
  }

  /**
   * Fetch the address of the task to answer first.
   * @returns {Promise<string>}
   */
  async firstTask() {
    const answer = await accepted(await this.#answer("/v1/tasks", NEWEST));
    const first = firstTask(await bytesOf(answer, LONGEST));
    if (first === null) throw new DataError("The provider has no open task at the moment.");
    return first;
  }

  /**
   * Fetch the bytes at a task's address, unverified: `loads` of a task verifies them.
   * @param {string} address
   * @returns {Promise<Bytes>}
   */
  async task(address) {
    return bytesOf(await accepted(await this.#answer(`/v1/tasks/${address}`)), LONGEST_TASK);
  }

  /**
   * Fetch the address of the newest item model, or null if none is published yet.
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
    const answer = await this.#answer(`/v1/models/${address}`, {}, MODEL_DEADLINE);
    return bytesOf(await accepted(answer), LONGEST_MODEL);
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
   * Request the erasure of the reports under the pseudonym that is derived from the key.
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
      const redirect = /** @type {const} */ ("manual"); // a redirect is an answer, not a failure
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
   * @param {number} [deadline] seconds
   */
  async #answer(path, request, deadline = DEADLINE) {
    try {
      const signal = AbortSignal.timeout(1000 * deadline);
      return await this.#fetch(this.place + path, { ...QUIET, ...request, signal });
    } catch {
      throw new TacitError(UNREACHABLE);
    }
  }
}

/**
 * Return an enrolment token that can be sent to an origin. Throws `RequestError`, without the token,
 * for one that no header can contain, and for an origin that is not protected.
 * @param {string} token
 * @param {string} origin
 */
export function checkToken(token, origin) {
  if (!TOKEN.test(token))
    throw new RequestError("The token must be one line of printable ASCII characters without spaces.");
  if (!isPrivate(origin))
    throw new RequestError("Tokens are sent over https only; use the collector's https URL.");
  return token;
}

/**
 * Return the address of a page without its last part.
 * @param {Location | undefined} location
 */
function folderOf(location) {
  return location === undefined ? "" : new URL(".", location.href).href.slice(0, -1);
}

/** @param {Response} answer */
async function accepted(answer) {
  if (answer.ok) return answer;
  throw new TacitError(
    `The collector responded with ${answer.status} instead of a document; try again later.`,
  );
}

/**
 * Read the body of a response. Throws `DataError` if it is longer than `longest` bytes, and stops
 * reading there. Throws `TacitError` if the connection breaks.
 * @param {Response} answer
 * @param {number} longest
 * @returns {Promise<Bytes>}
 */
export async function bytesOf(answer, longest) {
  const reader = answer.body?.getReader();
  const parts = [];
  let size = 0;
  for (let read = await next(reader); read && !read.done; read = await next(reader)) {
    parts.push(read.value);
    size += read.value.length;
    if (size <= longest) continue;
    await reader?.cancel();
    throw new DataError(`The collector's response is longer than ${longest} bytes and is ignored.`);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** @param {ReadableStreamDefaultReader<Bytes> | undefined} reader */
async function next(reader) {
  try {
    return await reader?.read();
  } catch {
    throw new TacitError(UNREACHABLE);
  }
}

/**
 * @param {Response} answer
 * @returns {Promise<Outcome>}
 */
async function outcome(answer) {
  if (answer.type === "opaqueredirect") {
    const detail = "It redirects to another address.";
    return { status: REDIRECT, detail, refused: null, retryAfter: 0 };
  }
  return {
    ...problemOf(await bytesOf(answer, LONGEST)),
    status: answer.status,
    retryAfter: seconds(answer.headers.get("Retry-After") ?? ""),
  };
}

/**
 * Return the seconds of a Retry-After header. 0 for another form.
 * @param {string} text
 */
export function seconds(text) {
  return /^[0-9]{1,9}$/.test(text) ? Math.min(Number(text), MOST_WAIT) : 0;
}
