/** HTTP client of a shuffler: no cookies, no referrer, and the user's token with POST alone. */

import { DataError, RequestError } from "../errors.js";
import { isOrigin, isPrivate } from "../documents/origin.js";
import { bytesOf, checkToken, DEADLINE, QUIET, REDIRECT, seconds } from "../sending/collector.js";

/** @typedef {import("../documents/hashing.js").Bytes} Bytes */
/**
 * `status` is 0 if none was received. `retryAfter`: seconds. `body`: empty unless accepted.
 * @typedef {{ readonly status: number, readonly retryAfter: number, readonly body: Bytes }} Answer
 */

const LONGEST_REPLY = 1 << 18; // bytes of a reply to a POST
const MEDIA_TYPE = "application/octet-stream";

export class Shuffler {
  #fetch;
  #place;
  #token;

  /**
   * `url`: the shuffler, an origin and possibly a path. `token`: the user's enrolment token. Throws
   * `RequestError` for a URL that is invalid, or not protected, and as `checkToken`.
   * @param {string} url
   * @param {string | null} [token]
   * @param {typeof globalThis.fetch} [fetch]
   */
  constructor(url, token = null, fetch = (...request) => globalThis.fetch(...request)) {
    const { origin, pathname } = locationOf(url);
    this.#fetch = fetch;
    this.#token = token === null ? null : checkToken(token, origin);
    this.#place = origin + pathname.replace(/\/+$/, "");
    this.origin = origin;
  }

  /**
   * Download at most `longest` bytes. Throws `DataError` for a longer response.
   * @param {string} path
   * @param {number} longest
   * @returns {Promise<Answer>}
   */
  get(path, longest) {
    return this.#ask(path, longest, { cache: "no-cache" });
  }

  /**
   * Send bytes with the token.
   * @param {string} path
   * @param {Bytes} body
   * @returns {Promise<Answer>}
   */
  post(path, body) {
    const headers = new Headers({ "Content-Type": MEDIA_TYPE });
    if (this.#token !== null) headers.set("Authorization", `Bearer ${this.#token}`);
    return this.#ask(path, LONGEST_REPLY, { method: "POST", body, headers });
  }

  /**
   * @param {string} path
   * @param {number} longest
   * @param {RequestInit} request
   * @returns {Promise<Answer>}
   */
  async #ask(path, longest, request) {
    const redirect = /** @type {const} */ ("manual"); // a redirect is an answer, not a failure
    try {
      const signal = AbortSignal.timeout(1000 * DEADLINE);
      const answer = await this.#fetch(this.#place + path, { ...QUIET, ...request, redirect, signal });
      const status = answer.type === "opaqueredirect" ? REDIRECT : answer.status;
      const body = answer.ok ? await bytesOf(answer, longest) : new Uint8Array();
      return { status, retryAfter: seconds(answer.headers.get("Retry-After") ?? ""), body };
    } catch (error) {
      if (error instanceof DataError) throw error;
      return { status: 0, retryAfter: 0, body: new Uint8Array() };
    }
  }
}

/**
 * Return the parts of the URL of a shuffler or provider. Throws `RequestError` for one that is not
 * https or on this machine, or has a user name.
 * @param {string} url
 */
export function locationOf(url) {
  const location = URL.canParse(url) ? new URL(url) : null;
  const { origin = "", username, password } = location ?? {};
  if (location !== null && isOrigin(origin) && isPrivate(origin) && !(username || password))
    return location;
  // It names no URL, which may contain a password.
  throw new RequestError("The URL must be of https or of this machine, without a user name.");
}
