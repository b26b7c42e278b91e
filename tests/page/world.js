/** A world for the device's tests: a store in memory, an obedient collector, a standing clock. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Client } from "../../src/tacit/page/device/client.js";
import { address } from "../../src/tacit/page/device/documents/hashing.js";
import { NAMES, keyOf } from "../../src/tacit/page/device/store.js";
import * as wireTask from "../../src/tacit/page/device/documents/task.js";

/** @typedef {import("../../src/tacit/page/device/sending/collector.js").Outcome} Outcome */
/** @typedef {import("../../src/tacit/page/device/store.js").Change} Change */
/** @typedef {import("../../src/tacit/page/device/store.js").Rows} Rows */
/** @typedef {{ id: string, mech: string, schema: number, epoch: number, person: string,
 *   cells: [number, number][] }} Report */

const ENCODER = new TextEncoder();
/** @type {{ task: string, address: string, verdict: string }[]} */
const EXAMPLES = JSON.parse(
  readFileSync(new URL("../vectors/tasks.json", import.meta.url), "utf8"),
);

/**
 * The worked example of that plan: 6 items, tables of epsilon 0.5, 1 and 2. "extendable": a task of
 * the plan sample:3 that was extended by 2 items.
 * @param {string} plan
 */
export async function example(plan) {
  const part = plan === "extendable" ? '"tacit-extension-2"' : `"plan":"${plan}"`;
  const found = EXAMPLES.find(({ verdict, task }) => verdict === "holds" && task.includes(part));
  if (found === undefined) throw new Error(`no example of ${plan}`);
  const document = ENCODER.encode(found.task);
  return { document, task: await wireTask.loads(document, found.address) };
}

/**
 * What an older page left: the task, what the collector had by then, and the rows of the store.
 * @param {"rated" | "catalogue" | "sample"} plan
 */
export function former(plan) {
  return revived(readFileSync(new URL(`stores/${plan}.json`, import.meta.url), "utf8"));
}

/**
 * Parse JSON with {"bigint"} for integers and {"bytes"} for bytes.
 * @param {string} text
 */
export function revived(text) {
  return JSON.parse(text, (_key, value) => {
    if (typeof value?.bigint === "string") return BigInt(value.bigint);
    return typeof value?.bytes === "string" && !("id" in value)
      ? new Uint8Array(Buffer.from(value.bytes, "hex"))
      : value;
  });
}

/** Who asks in these tests. */
export const PROVIDER = "https://films.example";

/**
 * The same question in the format that names its provider.
 * @param {import("../../src/tacit/page/device/documents/hashing.js").Bytes} document of a tacit-task-1
 * @param {string} [provider]
 */
export async function successor(document, provider = PROVIDER) {
  const { name, ...rest } = JSON.parse(new TextDecoder().decode(document));
  const fields = { ...rest, format: "tacit-task-2" };
  const { format, ...others } = fields;
  const named = ENCODER.encode(JSON.stringify({ format, name, provider, ...others }));
  return { document: named, task: await wireTask.loads(named, await address(named)) };
}

/**
 * Keys as IndexedDB orders them: column by column.
 * @param {[string, unknown]} one
 * @param {[string, unknown]} other
 */
function byKey([one], [other]) {
  const [a, b] = [JSON.parse(one), JSON.parse(other)];
  const k = a.findIndex((/** @type {unknown} */ part, /** @type {number} */ at) => part !== b[at]);
  return a[k] < b[k] ? -1 : 1;
}

/** What IndexedDB keeps, in maps; `crash` is asked before each commit whether to lose it. */
export class Memory {
  /** @type {Map<string, Map<string, unknown>>} */
  #stores = new Map(NAMES.map((name) => [name, new Map()]));
  crash = () => false;
  commits = 0;

  /** @returns {Promise<Rows>} */
  async read() {
    const named = NAMES.map((name) => {
      const rows = [...(this.#stores.get(name) ?? [])].sort(byKey);
      return [name, rows.map(([, row]) => row)];
    });
    return structuredClone(Object.fromEntries(named));
  }

  /** @param {Change} change */
  async commit({ put = {}, remove = {} }) {
    if (this.crash()) throw new Error("the power is out");
    this.commits += 1;
    for (const name of NAMES) {
      const rows = this.#stores.get(name);
      for (const row of remove[name] ?? []) rows?.delete(JSON.stringify(keyOf(name, row)));
      for (const row of put[name] ?? [])
        rows?.set(JSON.stringify(keyOf(name, row)), structuredClone(row));
    }
  }
}

/** A collector that keeps the first bytes of every id; `outcome` may answer in its place. */
export class Shop {
  origin = PROVIDER;
  /** @type {string[]} */
  bodies = [];
  /** @type {Map<string, Report>} */
  reports = new Map();
  /** @type {(body: string) => Partial<Outcome> | null} */
  outcome = () => null;
  /** Where bodies were sent to. @type {string[]} */
  posts = [];
  /** What was asked to be erased, and acknowledged.
   * @type {import("../../src/tacit/page/device/store.js").Erasure[]} */
  erased = [];
  /** The bytes of its model. @type {import("../../src/tacit/page/device/documents/hashing.js").Bytes | null} */
  published = null;
  /** Kinds of documents that were requested. @type {string[]} */
  downloads = [];
  /** Addresses of tasks that it does not know any more. @type {Set<string>} */
  gone = new Set();

  /** @param {import("../../src/tacit/page/device/documents/hashing.js").Bytes} document */
  constructor(document) {
    this.document = document;
  }

  async task() {
    this.downloads.push("task");
    return this.document;
  }

  /** The address of the published model, null without one. @returns {Promise<string | null>} */
  async newestModel() {
    this.downloads.push("newest model");
    return this.published && address(this.published);
  }

  /** @returns {Promise<import("../../src/tacit/page/device/documents/hashing.js").Bytes>} */
  async model() {
    this.downloads.push("model");
    return this.published ?? assert.fail("no model is published");
  }

  /**
   * @param {import("../../src/tacit/page/device/store.js").Erasure} erasure
   * @returns {Promise<Outcome>}
   */
  async erase(erasure) {
    const other = this.outcome(JSON.stringify({ key: erasure.key }));
    const said = { status: 200, detail: "", refused: null, retryAfter: 0, ...other };
    if (said.status === 200) this.erased.push(erasure);
    return said;
  }

  /**
   * @param {string} task
   * @param {string} body
   * @returns {Promise<Outcome>}
   */
  async send(task, body) {
    this.posts.push(task);
    if (this.gone.has(task)) return { status: 404, detail: "", refused: null, retryAfter: 0 };
    this.bodies.push(body);
    const other = this.outcome(body);
    if (other !== null) return { status: 0, detail: "", refused: null, retryAfter: 0, ...other };
    /** @type {{ reports: Report[] }} */
    const { reports } = JSON.parse(body);
    const refused = reports
      .filter(
        (report) =>
          JSON.stringify(this.reports.get(report.id) ?? report) !== JSON.stringify(report),
      )
      .map(({ id }) => ({ id, problem: "conflict", detail: "another report has this id" }));
    for (const report of reports)
      if (!this.reports.has(report.id)) this.reports.set(report.id, report);
    return refused.length > 0
      ? { status: 409, detail: "", refused, retryAfter: 0 }
      : { status: 200, detail: "", refused: null, retryAfter: 0 };
  }
}

/**
 * A device that has agreed to an example; `set` moves its clock to an epoch, `reload` opens its
 * store anew.
 * @param {string} plan
 * @param {{ mostEpsilon?: string, lifetime?: string, words?: () => bigint }} [terms]
 */
export async function device(plan, { mostEpsilon = "1", lifetime = "100", ...world } = {}) {
  const { document, task } = await example(plan);
  const [store, shop] = [new Memory(), new Shop(document)];
  let time = task.start;
  const clock = () => time;
  /** @type {<T>(work: () => Promise<T>) => Promise<T>} */
  const alone = (work) => work();
  const reload = () => new Client({ store, collector: shop, clock, alone, ...world });
  const client = reload();
  await client.accept(task, { mostEpsilon, lifetime });
  const set = (/** @type {number} */ epoch) => (time = task.start + epoch * task.epochSeconds);
  return { client, store, shop, task, set, reload };
}

/**
 * The id at a place of the catalogue.
 * @param {import("../../src/tacit/page/device/documents/task.js").Task} task
 * @param {number} place
 */
export function itemAt({ items }, place) {
  const item = items[place];
  if (item === undefined) throw new Error(`no place ${place}`);
  return item;
}

/**
 * Numbers from 0 to 1 that are the same in every run: a test is to fail twice, if it fails.
 * @param {number} seed
 */
export function chance(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
