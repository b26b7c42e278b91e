/**
 * Register of a shuffler: a public list of its tasks and batches, to which lines are only added.
 *
 * Every line contains the SHA-256 of the line before it. A device stores the last line that it has
 * verified, so a shuffler that later shows another list, such as one with a task for a single
 * victim, is detected. A provider has at most one open task, which is thus the same for everybody.
 */

import { CertificateError, DataError } from "../errors.js";
import { address } from "../documents/hashing.js";
import { isOrigin } from "../documents/origin.js";
import { decoded, fieldsInOrder, integer, parseCanonical, typed } from "../documents/strict.js";

/** @typedef {import("../documents/hashing.js").Bytes} Bytes */
/** @typedef {import("../documents/strict.js").Fields} Fields */
/** A closed batch. `bundles`: their number. `batch`: its SHA-256, null if not released.
 * @typedef {{ readonly bundles: number, readonly batch: string | null }} Closing */
/**
 * The verified lines. `head`: SHA-256 of the last line. `open`: the open task of each provider.
 * `closed`: batches by task. `released`: the last task of each provider whose batch was released.
 * `providers`: by open task, so that a long register is verified in linear time.
 * @typedef {{ head: string, readonly open: Map<string, string>,
 *   readonly closed: Map<string, Closing>, readonly released: Map<string, string>,
 *   readonly providers: Map<string, string> }} Register
 */

/** Most bytes of a register. */
export const LONGEST = 1 << 24;
/** SHA-256 of "tacit-register-1", which the first line contains in place of a digest. */
export const BEGIN = "3204132997d5cc01e36d8b8805b708067958f18f72e62db26e59d9bbd1e772e2";
const OPENED = ["before", "task", "provider"];
const CLOSED = ["before", "task", "bundles", "batch"];
const WHAT = "The register";
const ADDRESS = /^[0-9a-f]{64}$/;
const LINE_FEED = 10;

/**
 * Parse and verify a register. `before`: SHA-256 of the last line that was verified earlier.
 *
 * Throws `DataError` for a malformed register, and `CertificateError` if it does not continue the
 * earlier one.
 * @param {Bytes} document
 * @param {string} [before]
 * @returns {Promise<Register>}
 */
export async function loads(document, before = BEGIN) {
  if (document.length > LONGEST)
    throw new DataError(`${WHAT} of ${document.length} bytes is longer than ${LONGEST}.`);
  /** @type {Register} */
  const register = {
    head: BEGIN,
    ...{ open: new Map(), closed: new Map(), released: new Map(), providers: new Map() },
  };
  const heads = new Set([BEGIN]);
  for (let start = 0; start < document.length; ) {
    const end = document.indexOf(LINE_FEED, start);
    if (end < 0) throw new DataError(`${WHAT} is damaged: its last line is incomplete.`);
    const line = document.slice(start, end);
    read(register, line);
    register.head = await address(line);
    heads.add(register.head);
    start = end + 1;
  }
  if (heads.has(before)) return register;
  throw new CertificateError(
    "The shuffler shows another list of tasks than before, so the device sends nothing. Compare " +
      "its register with that of other people.",
  );
}

/**
 * Verify the next line, and add it, except for its hash.
 * @param {Register} register
 * @param {Bytes} line
 */
function read(register, line) {
  const value = parseCanonical(decoded(line, WHAT), WHAT);
  const isOpening = typeof value === "object" && value !== null && "provider" in value;
  const fields = fieldsInOrder(value, WHAT, isOpening ? OPENED : CLOSED);
  const task = typed(fields, "task", "string", WHAT);
  if (fields["before"] !== register.head || !ADDRESS.test(task))
    throw new DataError(`${WHAT} is damaged: a line does not follow the one before it.`);
  if (isOpening) return open(register, task, typed(fields, "provider", "string", WHAT));
  close(register, task, integer(fields, "bundles", WHAT), fields["batch"]);
}

/**
 * @param {Register} register
 * @param {string} task
 * @param {string} provider
 */
function open({ open, closed, providers }, task, provider) {
  const isListed = closed.has(task) || providers.has(task);
  if (!isOrigin(provider) || open.has(provider) || isListed) {
    throw new DataError(
      `${WHAT} has two tasks of one provider at a time, or a task twice: it must show everybody ` +
        "one task.",
    );
  }
  open.set(provider, task);
  providers.set(task, provider);
}

/**
 * @param {Register} register
 * @param {string} task
 * @param {number} bundles
 * @param {unknown} batch
 */
function close({ open, closed, released, providers }, task, bundles, batch) {
  const provider = providers.get(task);
  const isDigest = typeof batch === "string" && ADDRESS.test(batch);
  if (provider === undefined || bundles < 0 || !(batch === null || isDigest))
    throw new DataError(`${WHAT} closes a task that is not open.`);
  open.delete(provider);
  providers.delete(task);
  closed.set(task, { bundles, batch: isDigest ? batch : null });
  if (isDigest) released.set(provider, task);
}
