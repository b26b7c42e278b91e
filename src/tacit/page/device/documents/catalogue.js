/**
 * The catalogue of a task: item ids, titles, blocks, and the document that adds items to a task.
 *
 * A task over slots that can be extended is answered block by block. The items of the first task are
 * a block, and so are those of each extension. A device answers for an item of a block if the key of
 * its pair with the block key is below the block's threshold t, with probability t / 2^64.
 */

import { DataError } from "../errors.js";
import { fieldsInOrder, integer, integral, listed, parseCanonical, typed } from "./strict.js";

/** @typedef {import("./strict.js").Fields} Fields */
/**
 * Items `first` to `end` of a task, added by one document. `threshold`: t, 1 to 2^64. `openFrom`:
 * the first epoch in which a device answers.
 * @typedef {{ readonly first: number, readonly end: number, readonly threshold: bigint,
 *   readonly openFrom: number }} ItemBlock
 */
/**
 * Terms under which a task over slots can be extended, and its blocks. `limit`: the most items that
 * a device answers in a generation. `renewals`: epochs in which a new generation begins: all items
 * are then drawn once more. `blocks`: of the first task and of each extension, in order.
 * @typedef {{ readonly limit: number, readonly renewals: readonly number[],
 *   readonly blocks: readonly ItemBlock[] }} Growth
 */
/**
 * New items of a task. `titles`: by index. `terms`: of their block, null under the plan rated.
 * @typedef {{ readonly items: readonly (string | number)[], readonly titles: readonly string[] | null,
 *   readonly terms: Pick<ItemBlock, "threshold" | "openFrom"> | null }} AddedItems
 */

export const MOST_ITEMS = 1_000_000;
export const MOST_EXTENSIONS = 1000;
export const LONGEST_ID = 200;
const MOST_RENEWALS = 100;
const KEYS = ["format", "parent", "items", "titles"];
const SLOT_KEYS = [...KEYS, "threshold", "open_from", "successor"];
const TERMS = ["threshold", "open_from", "limit", "renewals", "provider_key"];
const WHAT = "The extension";
const WHAT_TERMS = "The task's extendable";
const WORD = 1n << 64n;
const INTEGER = /^(0|[1-9][0-9]{0,19})$/;

/**
 * Return whether a value is a valid item id.
 * @param {unknown} value
 * @returns {value is string | number}
 */
export function isItemId(value) {
  if (typeof value === "number") return Number.isSafeInteger(value);
  if (typeof value !== "string" || value.length > 2 * LONGEST_ID) return false;
  const characters = [...value].length;
  return characters > 0 && characters <= LONGEST_ID && value.isWellFormed();
}

/**
 * Return the value if it is a valid item id.
 * @param {unknown} value
 */
export function itemId(value) {
  return isItemId(value) ? value : undefined;
}

/**
 * Return a list of titles, or null. Throws `DataError`.
 * @param {unknown} value
 * @param {string} what
 */
export function titlesOf(value, what) {
  return value === null ? null : listed(value, "titles", title, what, MOST_ITEMS);
}

/** @param {unknown} value */
function title(value) {
  return typeof value === "string" && value.isWellFormed() ? value : undefined;
}

/**
 * Parse an extension of the task with the address `parent`.
 *
 * Throws `DataError` for a malformed extension, one of another task, one without items, and one that
 * is not in its only spelling.
 * @param {string} line
 * @param {string} parent
 * @param {boolean} overSlots whether the task has a plan over slots
 * @returns {AddedItems}
 */
export function extensionOf(line, parent, overSlots) {
  const [format, keys] = overSlots ? ["tacit-extension-2", SLOT_KEYS] : ["tacit-extension-1", KEYS];
  const known = fieldsInOrder(parseCanonical(line, WHAT), WHAT, keys);
  if (known["format"] !== format || known["parent"] !== parent) {
    throw new DataError(
      `${WHAT} is malformed: it must have the format ${format}, and name its task.`,
    );
  }
  const items = listed(known["items"], "items", itemId, WHAT, MOST_ITEMS);
  if (items.length === 0) throw new DataError(`${WHAT} is malformed: it adds no item.`);
  const titles = titlesOf(known["titles"], WHAT);
  return { items, titles, terms: overSlots ? termsOf(known) : null };
}

/** @param {Fields} known */
function termsOf(known) {
  if (known["successor"] !== null) {
    throw new DataError(`${WHAT} must have null as successor; a move is a separate line.`);
  }
  return { threshold: thresholdIn(known, WHAT), openFrom: integer(known, "open_from", WHAT) };
}

/**
 * Parse the terms of a first task with this number of items. Throws `DataError`.
 * @param {unknown} value
 * @param {number} nItems
 * @returns {Growth}
 */
export function growthOf(value, nItems) {
  const known = fieldsInOrder(value, WHAT_TERMS, TERMS);
  if (known["provider_key"] !== null) typed(known, "provider_key", "string", WHAT_TERMS);
  const threshold = thresholdIn(known, WHAT_TERMS);
  const openFrom = integer(known, "open_from", WHAT_TERMS);
  const block = { first: 0, end: nItems, threshold, openFrom };
  const renewals = listed(known["renewals"], "renewals", integral, WHAT_TERMS, MOST_RENEWALS);
  return { limit: integer(known, "limit", WHAT_TERMS), renewals, blocks: [block] };
}

/**
 * Return the threshold in these fields, an integer as a string. Throws `DataError`.
 * @param {Fields} known
 * @param {string} what
 * @returns {bigint}
 */
export function thresholdIn(known, what) {
  const text = typed(known, "threshold", "string", what);
  if (INTEGER.test(text)) return BigInt(text);
  throw new DataError(`${what}'s threshold is '${text.slice(0, 40)}', not an integer.`);
}

/**
 * Return the threshold at which a device is queried about `slots` of `nItems` on average; null for
 * all of them.
 * @param {number | null} slots
 * @param {number} nItems
 * @returns {bigint}
 */
export function thresholdOf(slots, nItems) {
  if (slots === null || slots >= nItems) return WORD;
  return (BigInt(slots) * WORD) / BigInt(nItems);
}

/**
 * Return the expected number of items of a block that a device is queried about.
 * @param {ItemBlock} block
 */
export function expectedPlaces({ first, end, threshold }) {
  return ((end - first) * Number(threshold)) / Number(WORD);
}

/**
 * Return the number of renewals up to an epoch.
 * @param {Growth} growth
 * @param {number} epoch
 */
export function generation({ renewals }, epoch) {
  return renewals.filter((each) => each <= epoch).length;
}

/**
 * Return the maximum number of symbols that a device draws for an item.
 * @param {Growth} growth
 */
export function generations({ renewals }) {
  return 1 + renewals.length;
}

/**
 * Return the terms with one more block, of the items up to `end`.
 * @param {Growth} growth
 * @param {number} end
 * @param {bigint} threshold
 * @param {number} openFrom
 * @returns {Growth}
 */
export function extended({ limit, renewals, blocks }, end, threshold, openFrom) {
  const block = { first: blocks.at(-1)?.end ?? 0, end, threshold, openFrom };
  return { limit, renewals, blocks: [...blocks, block] };
}

/**
 * Return conditions that make a task invalid, with a sentence for each.
 * @param {Growth} growth
 * @param {number | null} slots K of the plan "sample:K", null under the plan "catalogue"
 * @returns {[boolean, string][]}
 */
export function flaws({ limit, renewals, blocks }, slots) {
  const [first] = blocks;
  const least = slots === null ? WORD : 1n;
  const rates = blocks.map(({ threshold }) => threshold);
  const times = [...renewals, ...blocks.map(({ openFrom }) => openFrom)];
  return [
    [
      first === undefined || first.threshold !== thresholdOf(slots, first.end),
      "the threshold of a first task must be K 2^64 / n under sample:K, rounded down, and 2^64 " +
        "under catalogue",
    ],
    [
      rates.some((each) => each < least || each > WORD),
      "a threshold must be from 1 to 2^64, and 2^64 under catalogue",
    ],
    [
      first !== undefined && BigInt(limit) * WORD < first.threshold * BigInt(first.end),
      "the limit must be at least the number of slots of the first task",
    ],
    [
      times.some((each) => each < 0) || renewals.includes(0),
      "open_from must be at least 0, and a renewal at least 1",
    ],
    [
      renewals.some((each, k) => k > 0 && each <= (renewals[k - 1] ?? 0)),
      `it must have at most ${MOST_RENEWALS} renewals, in ascending order`,
    ],
  ];
}
