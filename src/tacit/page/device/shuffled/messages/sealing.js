/**
 * Sealing of shuffled messages: the shuffler mixes them, and only the provider reads them.
 *
 * A message is its bucket in five bytes. Each is sealed alone to the public key of a task, with HPKE
 * (RFC 9180) in base mode: X25519, HKDF-SHA256, AES-128-GCM, all from Web Crypto. `info` contains
 * the address of the task, so that a message for one task does not open as one for another. All
 * sealed messages have 53 bytes: a bundle's length depends on the number of messages alone.
 */

import { RequestError } from "../../errors.js";
import { MESSAGE_BYTES } from "../round_terms.js";
import { ITEMS, SEALED_BYTES } from "../task.js";
import { drawBundle, drawPairBundle, ownIndices } from "./bundle.js";
import { areRatings, checkKind, signedBundle } from "./signs.js";

/** @typedef {import("../../documents/hashing.js").Bytes} Bytes */
/** @typedef {import("../task.js").ShuffledTask} ShuffledTask */
/** @typedef {() => Promise<CryptoKeyPair>} Ephemeral a new X25519 key pair */

const ENCAPSULATED_BYTES = 32;
/** Messages that are sealed at the same time: Web Crypto has several threads. */
const SLICE = 32;
const UTF8 = new TextEncoder();
const VERSION = UTF8.encode("HPKE-v1");
const KEM = Uint8Array.of(...UTF8.encode("KEM"), 0, 0x20);
const SUITE = Uint8Array.of(...UTF8.encode("HPKE"), 0, 0x20, 0, 1, 0, 1);
const X25519 = { name: "X25519" };
const EMPTY = new Uint8Array();

/**
 * Return the sealed messages of one device to a task, in random order. The length depends on the task
 * alone. Rejects as `checkKind`, `signedBundle` and `seal`.
 * @param {Omit<ShuffledTask, "certificate">} task
 * @param {import("./signs.js").OwnItems} items ids of the user's items, or ratings by item id for a task
 *   about star ratings; those that are not in the task are omitted
 * @param {import("../../answering/draw.js").Words} [words] replaced in tests only
 * @returns {Promise<Bytes>}
 */
export async function sealedBundle(task, items, words) {
  checkKind(task, items);
  const draw = task.about === ITEMS ? drawBundle : drawPairBundle;
  const messages =
    task.scale !== null && areRatings(items)
      ? signedBundle(task, task.scale, items, words)
      : draw(ownIndices(task, /** @type {Iterable<string | number>} */ (items)), task.round, words);
  return seal(messages, task.key, task.address);
}

/**
 * Return the messages, sealed to the key of the task at `address`, in the same order, one after
 * another.
 *
 * Sealing is randomized: a retry must send the bytes of the first call. Rejects with `RequestError`
 * for a key that is not one of X25519, and in a browser without X25519.
 * @param {readonly number[]} messages buckets, of `drawBundle`
 * @param {Bytes} publicKey 32 bytes
 * @param {string} address
 * @returns {Promise<Bytes>}
 */
export function seal(messages, publicKey, address) {
  return sealWith(ephemeralKey, messages, publicKey, address);
}

/**
 * Return what `seal` does. Tests replace `ephemeral`.
 * @param {Ephemeral} ephemeral
 * @param {readonly number[]} messages
 * @param {Bytes} publicKey
 * @param {string} address
 * @returns {Promise<Bytes>}
 */
export async function sealWith(ephemeral, messages, publicKey, address) {
  const recipient = await recipientKey(publicKey);
  const context = await keySchedule(sealingInfo(address));
  const sealed = new Uint8Array(messages.length * SEALED_BYTES);
  for (let first = 0; first < messages.length; first += SLICE) {
    const slice = messages.slice(first, first + SLICE);
    await Promise.all(
      slice.map(async (message, k) => {
        const { publicKey: own, privateKey } = await ephemeral();
        const encapsulated = new Uint8Array(await crypto.subtle.exportKey("raw", own));
        const secret = await shared(privateKey, recipient, joined(encapsulated, publicKey));
        const body = await encrypted(secret, context, bytesOf(message));
        sealed.set(joined(encapsulated, body), (first + k) * SEALED_BYTES);
      }),
    );
  }
  return sealed;
}

/**
 * Return the HPKE parameter `info` of the task at `address`.
 * @param {string} address
 * @returns {Bytes}
 */
export function sealingInfo(address) {
  return UTF8.encode(`tacit-shuffle-1\n${address}`);
}

/** @param {Bytes} publicKey */
async function recipientKey(publicKey) {
  try {
    return await crypto.subtle.importKey("raw", publicKey, X25519, false, []);
  } catch {
    throw new RequestError(
      `publicKey must be a key of X25519, which has 32 bytes, got ${publicKey.length} bytes, and the ` +
        "browser must support X25519; update it.",
    );
  }
}

/** @returns {Promise<CryptoKeyPair>} */
async function ephemeralKey() {
  const pair = await crypto.subtle.generateKey(X25519, false, ["deriveBits"]);
  return /** @type {CryptoKeyPair} */ (pair);
}

/**
 * Return the shared secret of the KEM: ExtractAndExpand of section 4.1.
 * @param {CryptoKey} own
 * @param {CryptoKey} recipient
 * @param {Bytes} context
 */
async function shared(own, recipient, context) {
  const exchange = await crypto.subtle.deriveBits({ ...X25519, public: recipient }, own, 256);
  const input = labeled(KEM, "eae_prk", new Uint8Array(exchange));
  return expanded(await material(input), EMPTY, KEM, "shared_secret", context, ENCAPSULATED_BYTES);
}

/**
 * Return what all messages of a task share in the key schedule of base mode, section 5.1.
 * @param {Bytes} info
 */
async function keySchedule(info) {
  const [none, hash] = await Promise.all([
    extracted(labeled(SUITE, "psk_id_hash", EMPTY)),
    extracted(labeled(SUITE, "info_hash", info)),
  ]);
  const secret = await material(labeled(SUITE, "secret", EMPTY));
  return { secret, context: joined(Uint8Array.of(0), joined(none, hash)) };
}

/**
 * @param {Bytes} shared
 * @param {{ readonly secret: CryptoKey, readonly context: Bytes }} schedule
 * @param {Bytes} message
 */
async function encrypted(shared, { secret, context }, message) {
  const [key, iv] = await Promise.all([
    expanded(secret, shared, SUITE, "key", context, 16),
    expanded(secret, shared, SUITE, "base_nonce", context, 12),
  ]);
  const cipher = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt"]);
  return new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv }, cipher, message));
}

/**
 * Return LabeledExpand of the HKDF extract of `input` with a salt.
 * @param {CryptoKey} input
 * @param {Bytes} salt
 * @param {Bytes} suite
 * @param {string} label
 * @param {Bytes} context
 * @param {number} size bytes
 */
async function expanded(input, salt, suite, label, context, size) {
  const info = joined(Uint8Array.of(0, size), labeled(suite, label, context));
  const algorithm = { name: "HKDF", hash: "SHA-256", salt, info };
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, input, 8 * size));
}

/**
 * Return the HKDF extract of `input` without a salt.
 * @param {Bytes} input
 */
async function extracted(input) {
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const zero = await crypto.subtle.importKey("raw", new Uint8Array(32), hmac, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", zero, input));
}

/** @param {Bytes} input */
function material(input) {
  return crypto.subtle.importKey("raw", input, "HKDF", false, ["deriveBits"]);
}

/**
 * @param {Bytes} suite
 * @param {string} label
 * @param {Bytes} rest
 */
function labeled(suite, label, rest) {
  return joined(joined(VERSION, suite), joined(UTF8.encode(label), rest));
}

/** @param {number} message */
function bytesOf(message) {
  const bytes = new Uint8Array(MESSAGE_BYTES);
  for (let at = MESSAGE_BYTES - 1, rest = message; at >= 0; at--, rest = Math.floor(rest / 256))
    bytes[at] = rest % 256;
  return bytes;
}

/**
 * @param {Bytes} first
 * @param {Bytes} second
 * @returns {Bytes}
 */
function joined(first, second) {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
