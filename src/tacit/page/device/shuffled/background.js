/**
 * Verification of a task and its certificate, and the draws and sealing of a bundle, in a worker.
 *
 * Both take longer than a page may be busy. A service worker and Node compute directly. So does a page
 * that cannot load the worker, because its bundler has left out the file, or its policy forbids it.
 */

import { CertificateError, DataError, RequestError } from "../errors.js";
import { sealedBundle } from "./messages/sealing.js";
import { areRatings } from "./messages/signs.js";
import { loads } from "./task.js";

/** @typedef {Parameters<typeof loads>} Document */
/** @typedef {Parameters<typeof sealedBundle>} Answer */
/** @typedef {{ readonly loads: typeof loads, readonly sealedBundle: typeof sealedBundle }} Background */
/** @typedef {["loads", Document] | ["sealedBundle", Answer]} Request a call of one of both */

/** On the thread of the caller. @type {Background} */
export const DIRECT = { loads, sealedBundle };
/** Errors that a worker passes on by their index, because names of classes may be shortened. */
export const KINDS = [CertificateError, DataError, RequestError];

/**
 * Return both functions, in a worker if there is one. Given words are those of a test, and used
 * directly.
 * @returns {Background}
 */
export function background() {
  if (globalThis.Worker === undefined) return DIRECT;
  return {
    loads: (...document) => inWorker(["loads", document], () => loads(...document)),
    sealedBundle: (task, items, words) => {
      const own = areRatings(items) ? items : [...items];
      const direct = () => sealedBundle(task, own, words);
      return words === undefined ? inWorker(["sealedBundle", [task, own]], direct) : direct();
    },
  };
}

/**
 * @template T
 * @param {Request} request
 * @param {() => Promise<T>} direct what to do without a worker
 * @returns {Promise<T>}
 */
async function inWorker(request, direct) {
  const worker = opened();
  if (worker === null) return direct();
  /** @type {Promise<T>} */
  const result = new Promise((resolve, reject) => {
    worker.onmessage = ({ data: { value, kind, message } }) => {
      const Kind = KINDS[kind] ?? Error;
      return message === undefined ? resolve(value) : reject(new Kind(message));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      resolve(direct());
    };
  });
  worker.postMessage(request);
  return result.finally(() => worker.terminate());
}

/** Return the worker, null if its file is of another origin. */
function opened() {
  try {
    return new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  } catch {
    return null;
  }
}
