/**
 * Shuffled task: one round of shuffled messages, immutable and addressed by its SHA-256.
 *
 * A device verifies it from its numbers alone. A task about items may announce a round about pairs:
 * its certificate then covers both rounds, with the smallest head and the fewest dummies per bucket
 * that the second task may have.
 */

import { itemId, MOST_ITEMS } from "../documents/catalogue.js";
import { compare, decimal } from "../documents/decimals.js";
import { address as addressOf } from "../documents/hashing.js";
import { isOrigin } from "../documents/origin.js";
import { LONGEST_UPLOAD } from "../documents/report.js";
import { parse } from "../documents/scale.js";
import {
  decoded,
  fieldsInOrder,
  integer,
  integral,
  listed,
  number,
  parseCanonical,
  typed,
} from "../documents/strict.js";
import { CertificateError, DataError } from "../errors.js";
import { isModulus, SIGNED_BYTES } from "./blind_tokens.js";
import { flaw, malformation } from "./certificate.js";
import { bucketFlaws, FIRST_FORM, starFlaws } from "./round_terms.js";

/** @typedef {import("../documents/hashing.js").Bytes} Bytes */
/** @typedef {import("./certificate.js").ShuffledCertificate} ShuffledCertificate */
/** @typedef {import("./certificate.js").ShuffledRound} ShuffledRound */
/**
 * A request for one bundle per person. `provider`: origin of who opens the messages. `shuffler`:
 * origin to which bundles are sent. `about`: "items", with a bucket per item and unused ones after
 * them, or "pairs", with a bucket per pair of the items and a decoy per item. `round`: of this task.
 * `announced`: the round about pairs that follows, null if none does. `first`: address of the task
 * that announced this round, null if it was not announced. `key`: the provider's public key of this
 * task. `closes`: Unix seconds at which the batch is closed. `signer`: modulus of the provider's key
 * for one-time tokens, of which each bundle requires one, null if it requires none. `scale`: of a
 * task about star ratings, whose messages have a sign, null for a task about items alone. `means`: of
 * the items of a task about signed pairs, in thousandths, null for all others. `bundleBytes`: length of
 * every bundle. `requestBytes`: with the signed token.
 * @typedef {{ readonly address: string, readonly name: string, readonly provider: string,
 *   readonly shuffler: string, readonly about: string, readonly items: readonly (string | number)[],
 *   readonly certificate: ShuffledCertificate, readonly round: ShuffledRound,
 *   readonly announced: ShuffledRound | null, readonly first: string | null, readonly key: Bytes,
 *   readonly closes: number, readonly signer: Bytes | null,
 *   readonly scale: import("../documents/scale.js").Scale | null,
 *   readonly means: readonly number[] | null, readonly bundleBytes: number,
 *   readonly requestBytes: number }} ShuffledTask
 */

/** Without and with signed tokens, and for star ratings, with or without tokens. */
export const [FORMAT, SIGNED_FORMAT] = ["tacit-shuffled-1", "tacit-shuffled-2"];
export const STAR_FORMAT = "tacit-shuffled-3";
export const [ITEMS, PAIRS] = ["items", "pairs"];
export const [SEALED_BYTES, KEY_BYTES] = [53, 32];
/** Most bytes of a task. */
export const LONGEST = 1 << 24;
const KEYS = [
  ...["format", "name", "provider", "shuffler", "about", "items", "rounds", "first"],
  ...["bundles", "honest", "delta", "replaced", "empty", "key", "closes"],
];
/** Keys of each format, in order. @type {ReadonlyMap<unknown, readonly string[]>} */
const FORMATS = new Map([
  [FORMAT, KEYS],
  [SIGNED_FORMAT, [...KEYS, "signer"]],
  [STAR_FORMAT, [...KEYS, "signer", "scale", "means"]],
]);
const MOST_MESSAGES = Math.floor(LONGEST_UPLOAD / SEALED_BYTES);
const [KEY, MODULUS, EMPTY] = [/^[0-9a-f]{64}$/, /^[0-9a-f]{768}$/, new Uint8Array()];
const WHAT = "The shuffled task";

/**
 * Parse a shuffled task and verify its certificate. None of its claims is trusted.
 *
 * Throws `CertificateError` if it does not match the address or its numbers do not prove its
 * epsilons, and `DataError` if it is malformed or not in its unique notation.
 * @param {Bytes} document
 * @param {string} address
 * @returns {Promise<ShuffledTask>}
 */
export async function loads(document, address) {
  if ((await addressOf(document)) !== address) {
    throw new CertificateError(
      `The shuffled task does not match its address ${address.slice(0, 64)}: it was changed in ` +
        "transit.",
    );
  }
  if (document.length > LONGEST)
    throw new DataError(`${WHAT} of ${document.length} bytes is longer than ${LONGEST}.`);
  const value = parseCanonical(decoded(document, WHAT), WHAT);
  const isNamed = typeof value === "object" && value !== null && "format" in value;
  const keys = isNamed ? FORMATS.get(value.format) : undefined;
  if (keys === undefined) {
    const formats = [...FORMATS.keys()].join(", ");
    throw new DataError(`The format of a shuffled task must be one of ${formats}.`);
  }
  const task = { address, ...taskOf(fieldsInOrder(value, WHAT, keys)) };
  const wrong = flaws(task).find(([found]) => found);
  if (wrong) throw new DataError(`${WHAT} is malformed: ${wrong[1]}.`);
  const sentence = flaw(task.certificate);
  if (sentence !== null) throw new CertificateError(sentence);
  return task;
}

/**
 * Return whether the certificate of `first` covers this round, too.
 *
 * The round has at most the announced messages, and at least its buckets and its dummies per bucket.
 * Conditions, delta, epsilon and both origins are those of `first`, and both tasks require signed
 * tokens, or neither does. Both have the same scale, or none.
 * @param {ShuffledTask} task
 * @param {ShuffledTask} first
 * @returns {boolean}
 */
export function isAnnouncedBy(task, first) {
  const { announced, certificate: before } = first;
  const { round, certificate: claim } = task;
  if (announced === null || task.about !== PAIRS || task.first !== first.address) return false;
  const conditions = (/** @type {ShuffledTask} */ { provider, shuffler, ...rest }) => {
    const { rounds, bundles, honest, delta } = rest.certificate;
    const terms = [rest.signer === null, rest.scale?.text];
    return JSON.stringify([provider, shuffler, rounds[0], bundles, honest, delta, ...terms]);
  };
  return (
    conditions(task) === conditions(first) &&
    compare(positive(claim.replaced), positive(before.replaced)) <= 0 &&
    round.messages <= announced.messages &&
    round.buckets >= announced.buckets &&
    round.dummies * announced.buckets >= announced.dummies * round.buckets
  );
}

/** @param {import("../documents/strict.js").Fields} fields */
function taskOf(fields) {
  const text = (/** @type {string} */ key) => typed(fields, key, "string", WHAT);
  const plain = (/** @type {string} */ key) => listed([fields[key]], key, number, WHAT)[0] ?? "";
  const certificate = {
    rounds: listed(fields["rounds"], "rounds", roundOf, WHAT, 2),
    bundles: integer(fields, "bundles", WHAT),
    ...{ honest: plain("honest"), delta: plain("delta") },
    ...{ replaced: plain("replaced"), empty: plain("empty") },
  };
  const wrong = malformation(certificate);
  if (wrong !== null) throw new DataError(`${WHAT} is malformed: ${wrong}.`);
  const [about, { rounds }] = [text("about"), certificate];
  const none = { buckets: 0, messages: 0, dummies: 0 };
  const round = (about === ITEMS ? rounds[0] : rounds.at(-1)) ?? none;
  const [format, signer, means] = [text("format"), fields["signer"] ?? null, fields["means"] ?? null];
  const hasSigner = format === SIGNED_FORMAT || signer !== null;
  const bundleBytes = (round.messages + round.dummies) * SEALED_BYTES;
  return {
    ...{ name: text("name"), provider: text("provider"), shuffler: text("shuffler"), about },
    items: listed(fields["items"], "items", itemId, WHAT, MOST_ITEMS),
    ...{ certificate, round },
    announced: about === ITEMS && rounds.length === 2 ? (rounds[1] ?? none) : null,
    first: fields["first"] === null ? null : text("first"),
    key: listed([fields["key"]], "key", keyOf, WHAT)[0] ?? new Uint8Array(),
    closes: integer(fields, "closes", WHAT),
    signer: hasSigner ? (listed([signer], "signer", modulusOf, WHAT)[0] ?? null) : null,
    scale: format === STAR_FORMAT ? parse(text("scale")) : null,
    means: means === null ? null : listed(means, "means", integral, WHAT, MOST_ITEMS),
    ...{ bundleBytes, requestBytes: bundleBytes + (hasSigner ? SIGNED_BYTES : 0) },
  };
}

/**
 * @param {unknown} value
 * @returns {ShuffledRound | undefined}
 */
function roundOf(value) {
  if (!Array.isArray(value) || value.length !== 3) return undefined;
  const [buckets, messages, dummies] = value.map(integral);
  if (buckets === undefined || messages === undefined || dummies === undefined) return undefined;
  return { buckets, messages, dummies };
}

/** @param {unknown} value */
function keyOf(value) {
  return typeof value === "string" && KEY.test(value) ? rawOf(value) : undefined;
}

/** @param {unknown} value */
function modulusOf(value) {
  const modulus = typeof value === "string" && MODULUS.test(value) ? rawOf(value) : EMPTY;
  return isModulus(modulus) ? modulus : undefined;
}

/** @param {string} hexadecimal */
function rawOf(hexadecimal) {
  return Uint8Array.from(hexadecimal.match(/../g) ?? [], (digits) => parseInt(digits, 16));
}

/**
 * @param {Omit<ShuffledTask, "address">} task
 * @returns {[boolean, string][]}
 */
function flaws({ name, provider, shuffler, about, items, certificate, round, first, ...rest }) {
  const [n, rounds] = [items.length, certificate.rounds.length];
  const [aboutPairs, signed] = [about === PAIRS, rest.scale !== null];
  const characters = name.length > 400 ? Infinity : [...name].length;
  return [
    [!isOrigin(provider) || !isOrigin(shuffler), "provider and shuffler must be origins"],
    [!(characters > 0 && characters <= 200), "its name must have 1 to 200 characters"],
    [provider === shuffler, "the provider and the shuffler must have different origins"],
    [about !== ITEMS && !aboutPairs, "it must be about items or pairs"],
    [n === 0, `it must have 1 to ${MOST_ITEMS} items, got 0`],
    [new Set(items.map(String)).size !== n, "an item id occurs twice"],
    [
      new Set(items.map((one) => typeof one)).size > 1,
      "item ids must be all numbers or all strings",
    ],
    ...bucketFlaws(n, round.buckets, aboutPairs, signed),
    [(first !== null) !== (aboutPairs && rounds === 2), FIRST_FORM],
    ...starFlaws(rest.scale, rest.means, n, aboutPairs),
    [rest.requestBytes > LONGEST_UPLOAD, `a bundle must have at most ${MOST_MESSAGES} messages`],
    [rest.closes <= 0, "it must close at a time in Unix seconds"],
  ];
}

/** @param {string} text */
function positive(text) {
  return decimal(text) ?? { units: 0n, places: 0 };
}
