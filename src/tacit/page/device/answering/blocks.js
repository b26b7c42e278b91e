/**
 * Answers to a task that is answered block by block: each item once per generation.
 *
 * The limit of the task is paid for in full before the first answer. What the device reports, and
 * when, then depends on its secret and on epochs alone: neither on ratings, nor on what they cost.
 */

import { expectedPlaces, generation, generations } from "../documents/catalogue.js";
import { row, UNRATED } from "../documents/channel.js";
import { key as importKey } from "../documents/hashing.js";
import { choose } from "../documents/task.js";
import { draw } from "./draw.js";
import { CertificateError } from "../errors.js";
import { debit, nano } from "./ledger.js";
import { blockKey } from "./pseudonym.js";
import { hashesOf, places as placesOf } from "./schedule.js";

/** @typedef {import("../documents/catalogue.js").Growth} Growth */
/** @typedef {import("../documents/channel.js").Channel} Channel */
/** @typedef {import("../documents/task.js").Task} Task */
/** @typedef {import("../store.js").BlockAnswer} BlockAnswer */
/** @typedef {import("../store.js").Rows} Rows */
/** @typedef {import("./ledger.js").Ledger} Ledger */
/**
 * A block with items that the device is queried about. `address`: of the document that added it.
 * `key`: its block key.
 * @typedef {{ readonly address: string, readonly key: string,
 *   readonly places: readonly number[] }} QueriedBlock
 */
/** A task that is answered block by block. @typedef {Task & { growth: Growth }} GrowingTask */

/**
 * Hashes of the items of each task, which the page needs after every rating.
 * @type {WeakMap<readonly (string | number)[], Promise<bigint[]>>}
 */
const HASHES = new WeakMap();

/**
 * Return whether a task is answered block by block.
 * @param {Task} task
 * @returns {task is GrowingTask}
 */
export function isGrowing(task) {
  return task.growth !== null;
}

/**
 * Return the channel to report through: the one for which the limit was reserved, if any. The choice
 * is independent of the ratings.
 *
 * Throws what `choose` throws, and `CertificateError` if the reserved channel exceeds the maximum.
 * @param {Task} task
 * @param {string} maximum nats
 * @param {Pick<Rows, "chains">} rows
 * @returns {Channel}
 */
export function channelOf(task, maximum, { chains }) {
  const chosen = choose(task, maximum);
  const chain = chains.find((one) => one.task === task.question);
  const reserved = task.channels.find(({ id }) => id === chain?.channel);
  if (reserved === undefined) return chosen;
  if (nano(reserved.epsilon) <= nano(maximum)) return reserved;
  throw new CertificateError(
    `This device answers the task at epsilon = ${reserved.epsilon} per slot, above your maximum of ` +
      `${maximum}, so it sends nothing.`,
  );
}

/**
 * Return the ledger after the debit of the limit, whatever the device will be queried about, at the
 * first answer. Throws `BudgetError`, before anything is drawn. No later refusal exists.
 * @param {GrowingTask} task
 * @param {Channel} channel
 * @param {Pick<Rows, "chains">} rows
 * @param {Ledger} ledger
 * @returns {Ledger}
 */
export function reserve({ question, growth }, channel, { chains }, ledger) {
  if (chains.some(({ task }) => task === question)) return ledger;
  const slots = BigInt(growth.limit * generations(growth));
  return debit(ledger, nano(channel.epsilon) * slots);
}

/**
 * Return the blocks that are due in an epoch, in order, up to the limit of the task.
 * @param {GrowingTask} task
 * @param {CryptoKey} secret
 * @param {Pick<Rows, "blocks">} rows
 * @param {number} epoch
 * @returns {Promise<QueriedBlock[]>}
 */
export async function dueBlocks(task, secret, rows, epoch) {
  const { growth, provider, chain } = task;
  const [hashes, answered] = [await itemHashes(task), answeredIn(task, rows, epoch)];
  /** @type {QueriedBlock[]} */
  const due = [];
  let queried = 0;
  for (const [number, block] of growth.blocks.entries()) {
    const address = chain[number] ?? "";
    const key = await blockKey(secret, provider ?? "", address);
    const places = await placesOf(block, key, hashes);
    queried += places.length;
    if (queried > growth.limit) break;
    const [first] = places;
    if (first === undefined || block.openFrom > epoch || answered.has(first)) continue;
    due.push({ address, key, places });
  }
  return due;
}

/**
 * Draw each item of a block once, whatever its rating is or becomes: a second draw would show that
 * the rating changed.
 * @param {GrowingTask} task
 * @param {Channel} channel
 * @param {QueriedBlock} block
 * @param {ReadonlyMap<number, string>} levels the user's ratings, by catalogue index
 * @param {number} epoch
 * @param {import("./draw.js").Words} words
 * @returns {BlockAnswer[]}
 */
export function drawBlock(task, channel, { places }, levels, epoch, words) {
  const names = { task: task.question, generation: generation(task.growth, epoch) };
  return places.map((place) => {
    const value = levels.get(place) ?? UNRATED;
    const symbol = draw(channel, row(channel, value), words);
    return { ...names, place, channel: channel.id, value, symbol };
  });
}

/**
 * Return the number of answers due in an epoch. Before the device has a secret it is the number that
 * a device is queried about on average.
 * @param {GrowingTask} task
 * @param {Pick<Rows, "owner" | "blocks">} rows
 * @param {number} epoch
 * @returns {Promise<number>}
 */
export async function countInBlocks(task, rows, epoch) {
  const [owner] = rows.owner;
  if (owner === undefined) {
    const open = task.growth.blocks.filter(({ openFrom }) => openFrom <= epoch);
    return Math.round(open.reduce((sum, block) => sum + expectedPlaces(block), 0));
  }
  const due = await dueBlocks(task, await importKey(owner.secret), rows, epoch);
  return due.reduce((sum, { places }) => sum + places.length, 0);
}

/**
 * Return the indices that are answered in the generation of an epoch.
 * @param {GrowingTask} task
 * @param {Pick<Rows, "blocks">} rows
 * @param {number} epoch
 * @returns {ReadonlySet<number>}
 */
function answeredIn({ question, growth }, { blocks }, epoch) {
  const now = generation(growth, epoch);
  const mine = blocks.filter((one) => one.task === question && one.generation === now);
  return new Set(mine.map(({ place }) => place));
}

/** @param {Pick<Task, "items">} task */
function itemHashes({ items }) {
  const known = HASHES.get(items) ?? hashesOf(items);
  HASHES.set(items, known);
  return known;
}
