/**
 * Bundle of a device in one round of shuffled messages: its draws, before they are sealed.
 *
 * The round `items` has a bucket per item. The round `pairs` has a bucket per pair i < j of the n
 * most frequent items, the *head*, and n buckets (i, i), the *decoys*, which no device has. Items i
 * and j of the head have the bucket j (j + 1) / 2 + i. For star ratings, see `signs.js`.
 */

import { RequestError } from "../../errors.js";

/** @typedef {import("../../answering/draw.js").Words} Words */
/** @typedef {import("../certificate.js").ShuffledRound} ShuffledRound */

const WORDS = 1n << 64n;
/** Random words that are requested at a time: requests of single words take most of the draw. */
const BLOCK = 512;

/**
 * Return the bucket of two items, by their indices in the head. Equal indices: a decoy.
 * @param {number} first
 * @param {number} second
 * @returns {number}
 */
export function pairBucket(first, second) {
  const [low, high] = first < second ? [first, second] : [second, first];
  return (high * (high + 1)) / 2 + low;
}

/**
 * Return the indices of the user's items in a task, in ascending order.
 * @param {Pick<import("../task.js").ShuffledTask, "items">} task
 * @param {Iterable<string | number>} items ids of the user's items; others are omitted
 * @returns {number[]}
 */
export function ownIndices(task, items) {
  const indices = new Map(task.items.map((item, index) => [String(item), index]));
  const own = new Set([...items].flatMap((item) => indices.get(String(item)) ?? []));
  return [...own].sort((a, b) => a - b);
}

/**
 * Return the M + D messages of one device, in random order. Throws `RequestError` for buckets that
 * are not distinct, or not in the round.
 *
 * M of the user's buckets are drawn, or all if there are fewer, and uniform buckets fill up to M.
 * The length does not depend on `own`. `words` is replaced in tests only.
 * @param {readonly number[]} own distinct buckets of the user
 * @param {ShuffledRound} shuffled
 * @param {Words} [words]
 * @returns {number[]}
 */
export function drawBundle(own, shuffled, words = secretWords()) {
  checkDistinct(own, shuffled.buckets);
  return completed(sampled(own, shuffled.messages, words), shuffled, words);
}

/**
 * Return the M + D messages of one device about pairs, in random order, as `drawBundle`. Throws
 * `RequestError` for an item that is there twice, or not in the head.
 * @param {readonly number[]} items indices of the user's items in the head
 * @param {ShuffledRound} shuffled
 * @param {Words} [words]
 * @returns {number[]}
 */
export function drawPairBundle(items, shuffled, words = secretWords()) {
  // Distinct items of the head: these have distinct decoys, and their pairs distinct buckets.
  checkDistinct(items.map((item) => pairBucket(item, item)), shuffled.buckets);
  const pairs = sampledPairs(items, shuffled.messages, words);
  return completed(pairs.map(([one, other]) => pairBucket(one, other)), shuffled, words);
}

/**
 * Return a uniform subset of min(`most`, `items.length`) entries, in their order.
 * @template T
 * @param {readonly T[]} items
 * @param {number} most
 * @param {Words} words
 * @returns {T[]}
 */
export function sampled(items, most, words) {
  const indices = subset(items.length, most, words);
  return items.filter((_, index) => indices.has(index));
}

/**
 * Return a uniform subset of min(`most`, m (m - 1) / 2) pairs of the m `items`. The later entry of a
 * pair is first. Pairs are in the order of that entry, then of the other one.
 * @template T
 * @param {readonly T[]} items
 * @param {number} most
 * @param {Words} words
 * @returns {[T, T][]}
 */
export function sampledPairs(items, most, words) {
  // Indices of pairs are drawn, and only those pairs are computed: the shuffler sees the time from the
  // download of a task to the bundle, which would grow with the square of the secret m.
  const chosen = [...subset((items.length * (items.length - 1)) / 2, most, words)];
  return chosen.sort((a, b) => a - b).map((index) => {
    // Exact below 2^48: the root is an integer, or at least 2^-24 below the next one.
    const at = Math.floor((1 + Math.sqrt(8 * index + 1)) / 2);
    return /** @type {[T, T]} */ ([items[at], items[index - (at * (at - 1)) / 2]]);
  });
}

/**
 * Return the M + D messages of one device, in random order. `words` is replaced in tests only.
 *
 * `chosen`: at most M distinct buckets of the user, all of which are sent. Throws `RequestError` for
 * others.
 * @param {readonly number[]} chosen
 * @param {ShuffledRound} shuffled
 * @param {Words} [words]
 * @returns {number[]}
 */
export function completed(chosen, shuffled, words = secretWords()) {
  const { buckets, messages, dummies } = shuffled;
  // Distinct buckets: the privacy loss of two equal messages exceeds that of two different ones.
  checkDistinct(chosen, buckets);
  if (chosen.length > messages)
    throw new RequestError(`chosen must contain at most ${messages} buckets.`);
  // Uniform on all buckets, own ones included. Dummies are the noise of the certificate, whose
  // number does not depend on the profile. Fills hide how many buckets the user has.
  const drawn = [...chosen];
  while (drawn.length < messages + dummies) drawn.push(below(buckets, words));
  return permuted(drawn, words);
}

/**
 * @param {readonly number[]} chosen
 * @param {number} buckets
 */
function checkDistinct(chosen, buckets) {
  const isKnown = (/** @type {number} */ bucket) => bucket >= 0 && bucket < buckets;
  if (new Set(chosen).size === chosen.length && chosen.every(isKnown)) return;
  throw new RequestError(
    `own must contain distinct buckets from 0 to ${buckets - 1}; a bucket that is sent twice costs ` +
      "more than the certificate states.",
  );
}

/**
 * Return a source of words from the operating system, of which none is returned twice.
 * @returns {Words}
 */
export function secretWords() {
  let block = new BigUint64Array().values();
  return () => {
    for (;;) {
      const { value, done } = block.next();
      if (!done) return value;
      block = crypto.getRandomValues(new BigUint64Array(BLOCK)).values();
    }
  };
}

/**
 * Return a uniform integer from 0 to `limit` - 1, exactly: words of the last part are redrawn. How
 * often words are redrawn does not depend on any data.
 * @param {number} limit
 * @param {Words} words
 * @returns {number}
 */
export function below(limit, words) {
  const range = BigInt(limit);
  const accepted = WORDS - (WORDS % range);
  let word = words();
  while (word >= accepted) word = words();
  return Number(word % range);
}

/**
 * Return a uniform set of min(`most`, `size`) indices below `size` (Floyd's algorithm).
 * @param {number} size
 * @param {number} most
 * @param {Words} words
 * @returns {Set<number>}
 */
export function subset(size, most, words) {
  /** @type {Set<number>} */
  const chosen = new Set();
  for (let last = Math.max(size - most, 0); last < size; last++) {
    const index = below(last + 1, words);
    chosen.add(chosen.has(index) ? last : index);
  }
  return chosen;
}

/**
 * Return the messages in uniform order (Fisher and Yates). The order carries no information.
 * @param {readonly number[]} messages
 * @param {Words} words
 */
function permuted(messages, words) {
  const rest = [...messages];
  for (let end = rest.length - 1; end >= 0; end--) {
    const index = below(end + 1, words);
    [rest[index], rest[end]] = [rest[end] ?? NaN, rest[index] ?? NaN];
  }
  return rest.reverse();
}
