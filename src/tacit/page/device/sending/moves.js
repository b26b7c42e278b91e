/**
 * Moves of a provider to another origin: signed lines in the document of a task.
 *
 * The first task contains the public key of the provider, which its address authenticates. The
 * signature covers the line without its last key. It thus covers the address of the task before, and
 * with it all earlier lines: a move is valid in one chain, at one place of it.
 */

import { CertificateError, DataError, MovedError } from "../errors.js";
import { isOrigin, isPrivate } from "../documents/origin.js";
import { fieldsInOrder, parseCanonical, typed } from "../documents/strict.js";

const FORMAT = "tacit-move-1";
const KEYS = ["format", "parent", "successor", "signature"];
const START = `{"format":"${FORMAT}"`;
const WHAT = "The move";
const NUMBER = /^[A-Za-z0-9_-]{512}$/; // 3072 bits in base64url
const MODULUS = /^[g-z0-9_-][A-Za-z0-9_-]{510}[BDFHJLNPRTVXZbdfhjlnprtvxz13579_]$/;
const RSA = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

/**
 * Return whether a text is a public key: an odd modulus of 3072 bits, in base64url.
 * @param {string} text
 */
export function isProviderKey(text) {
  return MODULUS.test(text);
}

/**
 * Return whether a provider can move to this origin: one of https, or of this machine.
 * @param {string} origin
 */
export function isSuccessor(origin) {
  return isOrigin(origin) && isPrivate(origin);
}

/**
 * Return whether a line of a task begins as a move does.
 * @param {string} line
 */
export function isMove(line) {
  return line.startsWith(START);
}

/**
 * Verify a move after the task with the address `parent`, and return the origin that it names.
 *
 * Throws `DataError` for a malformed move, one of another task, one to another origin than
 * `isSuccessor`, and one that is not in its only spelling. Throws `CertificateError` without a key,
 * and for an invalid signature.
 * @param {string} line
 * @param {string} parent
 * @param {string | null} key public key in the first task
 * @returns {Promise<string>}
 */
export async function successorOf(line, parent, key) {
  const known = fieldsInOrder(parseCanonical(line, WHAT), WHAT, KEYS);
  const [successor, signature] = ["successor", "signature"].map((each) =>
    typed(known, each, "string", WHAT),
  );
  if (known["parent"] !== parent || !isSuccessor(successor ?? "") || !NUMBER.test(signature ?? ""))
    throw new DataError(`${WHAT} is malformed: it must name its task, an origin and a signature.`);
  if (key === null)
    throw new CertificateError(
      `The provider moved to ${successor}, but the task contains no key to verify this.`,
    );
  const statement = JSON.stringify({ format: FORMAT, parent, successor });
  if (!(await isSigned(statement, signature ?? "", key)))
    throw new CertificateError(
      `The move to ${successor} is not signed with the key of the provider.`,
    );
  return successor ?? "";
}

/**
 * Return whether the text is a signature of the message under a public key of a provider:
 * RSASSA-PKCS1-v1_5 with SHA-256, 3072 bits and the exponent 65537.
 * @param {string} message
 * @param {string} signature base64url
 * @param {string} key base64url
 */
export async function isSigned(message, signature, key) {
  if (!NUMBER.test(signature) || !isProviderKey(key)) return false;
  const jwk = { kty: "RSA", n: key, e: "AQAB" };
  try {
    const known = await crypto.subtle.importKey("jwk", jwk, RSA, false, ["verify"]);
    const [number, text] = [bytesOf(signature), new TextEncoder().encode(message)];
    return await crypto.subtle.verify(RSA, known, number, text);
  } catch {
    return false; // a browser can refuse a number as modulus
  }
}

/**
 * Return the origin to which the provider of a task moved from `origin`; null if it did not.
 * @param {Pick<import("../documents/task.js").Task, "origins">} task
 * @param {string} origin
 */
export function successorFrom({ origins }, origin) {
  const now = origins.at(-1) ?? origin;
  return now !== origin && origins.includes(origin) ? now : null;
}

/**
 * Throw `MovedError` if the reports of a question go to another origin `now`, null for any.
 * @param {string | null} now
 * @param {string} origin of the collector
 */
export function refuseMoved(now, origin) {
  if (now !== null && now !== origin) throw new MovedError(origin, now);
}

/**
 * Throw `MovedError` for a task whose provider moved away from `origin`, and `CertificateError`
 * for a task of another provider than the one at `origin`.
 * @param {Pick<import("../documents/task.js").Task, "provider" | "origins">} task
 * @param {string} origin
 */
export function refuseAnothers({ provider, origins }, origin) {
  refuseMoved(successorFrom({ origins }, origin), origin);
  if ((origins.at(-1) ?? origin) === origin) return;
  throw new CertificateError(
    `The provider of this task is ${provider}, but the task was received from ${origin}, ` +
      "so the device sends nothing.",
  );
}

/** @param {string} text base64url */
function bytesOf(text) {
  const bits = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(bits, (each) => each.charCodeAt(0));
}
