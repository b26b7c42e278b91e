/**
 * Blind signatures of one-time tokens: RSABSSA-SHA384-PSS-Deterministic of RFC 9474.
 *
 * The provider signs one token per customer and task without reading it. A device sends the token with
 * its bundle, so the provider can count people, and cannot link a token to the request in which it
 * was signed. Everything here is arithmetic with the public key.
 */

import { hexadecimal } from "../documents/hashing.js";
import { CertificateError } from "../errors.js";

/** @typedef {import("../documents/hashing.js").Bytes} Bytes */
/**
 * A token in a signing request. `message`: what the signer receives, uniform modulo the key.
 * `inverse`: of the blinding factor, the device's secret, with which the signature is unblinded.
 * @typedef {{ readonly message: Bytes, readonly inverse: Bytes }} BlindedToken
 */

/** Public exponent of all keys. A key is its modulus. */
export const EXPONENT = 65537;
/** Bytes of the modulus of a key, and of a signature: 3072 bits. */
export const MODULUS_BYTES = 384;
export const [TOKEN_BYTES, SALT_BYTES, HASH_BYTES] = [32, 48, 48];
/** Bytes of a token and its signature, one after the other. */
export const SIGNED_BYTES = TOKEN_BYTES + MODULUS_BYTES;
const SQUARINGS = 16; // EXPONENT is 2^16 + 1

/**
 * Return whether bytes have the form of a key: an odd number of 3072 bits.
 * @param {Bytes} modulus
 * @returns {boolean}
 */
export function isModulus(modulus) {
  const [first = 0, last = 0] = [modulus[0], modulus.at(-1)];
  return modulus.length === MODULUS_BYTES && first >= 0x80 && last % 2 === 1;
}

/**
 * Return a token, 32 random bytes from the operating system.
 * @returns {Bytes}
 */
export function newToken() {
  return crypto.getRandomValues(new Uint8Array(TOKEN_BYTES));
}

/**
 * Return a token as the signer receives it, with a new salt and blinding factor. Rejects with
 * `CertificateError` for a key that no honest signer has.
 * @param {Bytes} token
 * @param {Bytes} modulus
 * @returns {Promise<BlindedToken>}
 */
export function blinded(token, modulus) {
  const [n, salt] = [integer(modulus), crypto.getRandomValues(new Uint8Array(SALT_BYTES))];
  // Uniform and secret: z = m r^e is then uniform, whatever the token (RFC 9474, section 4.2).
  let factor = 0n;
  while (factor === 0n || factor >= n)
    factor = integer(crypto.getRandomValues(new Uint8Array(modulus.length)));
  return blind(token, modulus, salt, factor);
}

/**
 * Return a token blinded by a known salt and factor r: m r^e mod n, and 1 / r mod n. Rejects with
 * `CertificateError` if m or r has a factor in common with n.
 * @param {Bytes} token
 * @param {Bytes} modulus
 * @param {Bytes} salt
 * @param {bigint} factor
 * @returns {Promise<BlindedToken>}
 */
export async function blind(token, modulus, salt, factor) {
  const [n, size] = [integer(modulus), modulus.length];
  const message = integer(await pssEncoded(token, salt, size));
  const inverse = inverseOf(factor, n);
  if (inverse === null || inverseOf(message, n) === null)
    throw new CertificateError("The key of the signer has small factors, so nothing is signed.");
  return { message: bytes((message * power(factor, n)) % n, size), inverse: bytes(inverse, size) };
}

/**
 * Return the signature of a token from that of its blinded message (RFC 9474, section 4.4). Rejects
 * with `CertificateError` for a response that is not a signature with this key.
 * @param {Bytes} token
 * @param {Bytes} modulus
 * @param {Bytes} signature
 * @param {Bytes} inverse
 * @returns {Promise<Bytes>}
 */
export async function unblinded(token, modulus, signature, inverse) {
  const size = modulus.length;
  const result = bytes((integer(signature) * integer(inverse)) % integer(modulus), size);
  // A signer that returned anything else could recognize the token by it.
  if (signature.length === size && (await isSigned(token, result, modulus))) return result;
  throw new CertificateError("The token was not signed with the key of the task.");
}

/**
 * Return whether a signature of RSASSA-PSS is valid (RFC 8017, section 8.1.2).
 * @param {Bytes} token
 * @param {Bytes} signature
 * @param {Bytes} modulus
 * @returns {Promise<boolean>}
 */
export async function isSigned(token, signature, modulus) {
  const [n, size, number] = [integer(modulus), modulus.length, integer(signature)];
  if (signature.length !== size || number >= n) return false;
  const encoded = bytes(power(number, n), size);
  // A valid message is the encoding of the token with the salt that it contains, and no other.
  const end = size - HASH_BYTES - 1;
  const opened = await masked(encoded.slice(0, end), encoded.slice(end, -1));
  const expected = await pssEncoded(token, opened.slice(-SALT_BYTES), size);
  return encoded.every((byte, k) => byte === expected[k]);
}

/**
 * Return EMSA-PSS of a message with SHA-384 (RFC 8017, section 9.1.1), `size` bytes. The first bit is
 * 0: the result is less than a modulus of that many bytes.
 * @param {Bytes} message
 * @param {Bytes} salt
 * @param {number} size
 * @returns {Promise<Bytes>}
 */
export async function pssEncoded(message, salt, size) {
  const digest = await sha384(new Uint8Array(8), await sha384(message), salt);
  const padding = new Uint8Array(size - SALT_BYTES - HASH_BYTES - 2);
  const block = await masked(Uint8Array.of(...padding, 1, ...salt), digest);
  return Uint8Array.of(...block, ...digest, 0xbc);
}

/**
 * Return the exclusive or with the mask MGF1 of a seed, the first bit 0.
 * @param {Bytes} data
 * @param {Bytes} seed
 */
async function masked(data, seed) {
  const blocks = Array.from({ length: Math.ceil(data.length / HASH_BYTES) }, (_, k) =>
    sha384(seed, Uint8Array.of(0, 0, 0, k)),
  );
  const mask = (await Promise.all(blocks)).flatMap((block) => [...block]);
  const result = data.map((byte, k) => byte ^ (mask[k] ?? 0));
  result[0] = (result[0] ?? 0) & 0x7f;
  return result;
}

/** @param {Bytes[]} parts */
async function sha384(...parts) {
  const all = Uint8Array.from(parts.flatMap((part) => [...part]));
  return new Uint8Array(await crypto.subtle.digest("SHA-384", all));
}

/** @param {Bytes} content */
function integer(content) {
  return content.length === 0 ? 0n : BigInt(`0x${hexadecimal(content)}`);
}

/**
 * @param {bigint} number
 * @param {number} size
 */
function bytes(number, size) {
  const digits = number.toString(16).padStart(2 * size, "0");
  return Uint8Array.from(digits.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

/**
 * Return a number to the power of `EXPONENT`.
 * @param {bigint} base
 * @param {bigint} n
 */
function power(base, n) {
  let square = base;
  for (let k = 0; k < SQUARINGS; k++) square = (square * square) % n;
  return (square * base) % n;
}

/**
 * Return the inverse modulo n by Euclid's extended algorithm, null if it has none.
 * @param {bigint} number
 * @param {bigint} n
 */
function inverseOf(number, n) {
  let [r, next, s, after] = [n, number % n, 0n, 1n];
  while (next !== 0n) {
    const quotient = r / next;
    [r, next] = [next, r - quotient * next];
    [s, after] = [after, s - quotient * after];
  }
  return r === 1n ? ((s % n) + n) % n : null;
}
