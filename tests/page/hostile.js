/**
 * Documents of a hostile provider, from the recipes in tests/vectors/hostile.json, and what reading
 * them comes to. tests/importable/hostile.py is its twin.
 */

import { TacitError } from "../../src/tacit/page/device/errors.js";
import { address } from "../../src/tacit/page/device/documents/hashing.js";
import { fromBytes } from "../../src/tacit/page/device/documents/item_model.js";
import * as listModel from "../../src/tacit/page/device/documents/list_model.js";
import { firstTask, newestModel, problemOf } from "../../src/tacit/page/device/sending/replies.js";
import { ListProfile } from "../../src/tacit/page/device/recommending/list_profile.js";
import * as wireTask from "../../src/tacit/page/device/documents/task.js";

/** @typedef {string | { hex: string } | { numbers: number } | { text: string, times: number }} Part */
/**
 * @typedef {{ kind: string, why: string, base: string, edits: [string, string | Part[]][],
 *   length?: number, magic?: string, first?: number,
 *   block?: { at?: number, hex?: string, append?: string, cut?: number } }} Recipe
 */
/** @typedef {{ [name: string]: string | { magic: string, header: string, block: string } }} Bases */

/**
 * @param {Part} part
 * @returns {Buffer}
 */
function partOf(part) {
  if (typeof part === "string") return Buffer.from(part);
  if ("hex" in part) return Buffer.from(part.hex, "hex");
  if ("numbers" in part) {
    return Buffer.from(Array.from({ length: part.numbers }, (_, k) => `"${k}"`).join());
  }
  return Buffer.from(part.text.repeat(part.times));
}

/**
 * @param {Recipe} recipe
 * @param {Bases} bases
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function document(recipe, bases) {
  const base = bases[recipe.base] ?? "";
  let text = Buffer.from(typeof base === "string" ? base : base.header);
  for (const [old, parts] of recipe.edits) {
    const at = text.indexOf(Buffer.from(old));
    if (at < 0) throw new Error(`no ${old} in ${recipe.why}`);
    const put = typeof parts === "string" ? [parts] : parts;
    const rest = text.subarray(at + Buffer.byteLength(old));
    text = Buffer.concat([text.subarray(0, at), ...put.map(partOf), rest]);
  }
  if (typeof base === "string") return Uint8Array.from(text);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(recipe.length ?? text.length);
  const magic = Buffer.from(recipe.magic ?? base.magic);
  const whole = Buffer.concat([magic, length, text, blockOf(base.block, recipe.block ?? {})]);
  return Uint8Array.from(whole.subarray(0, recipe.first ?? whole.length));
}

/**
 * @param {string} block
 * @param {NonNullable<Recipe["block"]>} change
 */
function blockOf(block, { at, hex = "", append = "", cut = 0 }) {
  const bytes = Buffer.from(block, "base64");
  if (at !== undefined) bytes.write(hex, at, "hex");
  const whole = Buffer.concat([bytes, Buffer.from(append, "hex")]);
  return whole.subarray(0, whole.length - cut);
}

/**
 * The best of somebody who has every other item, with their scores.
 * @param {listModel.ListModel} model
 */
function ranked(model) {
  const own = model.items.filter((_, place) => place % 2 === 0);
  return new ListProfile(model, own).recommend(4).map(({ item, score }) => [item, score]);
}

const LINE_FEED = 10;
/** @type {{ [kind: string]: (data: Uint8Array<ArrayBuffer>) => unknown }} */
const READERS = {
  task: async (data) => {
    const line = data.slice(data.lastIndexOf(LINE_FEED) + 1);
    return (await wireTask.loads(data, await address(line))).question;
  },
  model: (data) => fromBytes(data).items.length,
  list: (data) => ranked(listModel.fromBytes(data)),
  tasks: firstTask,
  newest: newestModel,
  refusals: (data) => {
    const { refused } = problemOf(data);
    return refused && Object.fromEntries(refused.map(({ id, problem }) => [id, problem]));
  },
};

/**
 * What reading comes to: "holds" and something of what was read, or the kind of the error. Anything
 * but a sentence of our own goes through, and fails the test.
 * @param {string} kind
 * @param {Uint8Array<ArrayBuffer>} data
 * @returns {Promise<[string, unknown]>}
 */
export async function verdict(kind, data) {
  const read = READERS[kind];
  if (read === undefined) throw new Error(`no reader of ${kind}`);
  return verdictOf(read, data);
}

/**
 * What another reader comes to.
 * @param {(data: Uint8Array<ArrayBuffer>) => unknown} read
 * @param {Uint8Array<ArrayBuffer>} data
 * @returns {Promise<[string, unknown]>}
 */
export async function verdictOf(read, data) {
  try {
    return ["holds", await read(data)];
  } catch (error) {
    if (!(error instanceof TacitError) || !error.message.endsWith(".")) throw error;
    if (error.message.length > 600) throw error;
    return [error.constructor.name, null];
  }
}
