/**
 * Devices of one process of Node, with stores in a folder, to be killed at any moment. Arguments: the
 * folder and the URL of the collector. Obeys one command a line, as JSON, and prints what came of it.
 * tests/importable/fleet_devices.py is the twin, with the commands. Not a test:
 * tests/importable/growing_shop.py runs it.
 */

import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Client } from "../../src/tacit/page/device/client.js";
import * as wireTask from "../../src/tacit/page/device/documents/task.js";
import { TacitError } from "../../src/tacit/page/device/errors.js";
import { Collector } from "../../src/tacit/page/device/sending/collector.js";
import { Memory, revived } from "./world.js";

/** @typedef {import("../../src/tacit/page/device/store.js").Change} Change */
/** @typedef {{ device: string, now: number, rate?: [number, string | null][] }} Command */

const [, , folder = "", url = ""] = process.argv;
const TERMS = { mostEpsilon: "1", lifetime: "1000" };
const collector = new Collector({ origin: url });
/** @type {Map<string, { store: Saved, client: Client }>} */
const opened = new Map();
let now = 0;
let drawn = 0;

/** @param {string} text */
const digest = (text) => createHash("sha256").update(text).digest();

/** A store in memory, written to a file at each commit: by renaming, so completely or not at all. */
class Saved {
  #memory = new Memory();
  #path;

  /** @param {string} path */
  constructor(path) {
    this.#path = path;
  }

  async load() {
    if (existsSync(this.#path))
      await this.#memory.commit({ put: revived(readFileSync(this.#path, "utf8")) });
  }

  read() {
    return this.#memory.read();
  }

  /** @param {Change} change */
  async commit(change) {
    await this.#memory.commit(change);
    writeFileSync(`${this.#path}.part`, written(await this.#memory.read()));
    renameSync(`${this.#path}.part`, this.#path);
  }
}

/**
 * What `revived` reads.
 * @param {unknown} rows
 */
function written(rows) {
  return JSON.stringify(rows, (_key, value) => {
    if (typeof value === "bigint") return { bigint: String(value) };
    return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("hex") } : value;
  });
}

/** @param {string} device */
async function open(device) {
  const store = new Saved(`${folder}/${device}.json`);
  await store.load();
  const words = () => digest(`${device} ${drawn++}`).readBigUInt64BE();
  /** @type {<T>(work: () => Promise<T>) => Promise<T>} */
  const alone = (work) => work();
  const found = { store, client: new Client({ store, collector, clock: () => now, words, alone }) };
  opened.set(device, found);
  return found;
}

/** @param {Command} command */
async function obey({ device, rate, ...given }) {
  now = given.now;
  const { store, client } = opened.get(device) ?? (await open(device));
  const newest = await collector.firstTask();
  const task = await wireTask.loads(await collector.task(newest), newest);
  if (rate === undefined) return state(client, task);
  crypto.getRandomValues = (bytes) => {
    if (bytes instanceof Uint8Array) bytes.set(digest(device));
    return bytes;
  };
  if (!(await client.updateTask(task))) await client.accept(task, TERMS);
  for (const [item, rating] of rate) await client.rate(task, item, rating);
  drawn = (await store.read()).blocks.length;
  const { waiting, givenUp, late, refused } = await client.sync();
  return { waiting, lost: givenUp + late + refused, task: newest };
}

/**
 * @param {Client} client
 * @param {import("../../src/tacit/page/device/documents/task.js").Task} task
 */
async function state(client, task) {
  await client.fetchModel(task);
  const { ledger, ratings, blocks } = await client.read();
  return {
    spent: Number(ledger[0]?.spent ?? 0n),
    ratings: ratings.map(({ place, level }) => [task.items[place], level]),
    answers: blocks.map(({ generation, place, symbol }) => [generation, place, symbol]),
    recommended: (await client.recommend(task, 10_000)).map(({ item }) => item),
    code: (await client.referenceCode(task)).replaceAll("-", ""),
  };
}

Math.random = () => 0.5;
for await (const line of createInterface({ input: process.stdin })) {
  const came = await obey(JSON.parse(line)).catch((error) => {
    if (error instanceof TacitError) return { error: error.message };
    throw error;
  });
  process.stdout.write(`${JSON.stringify(came)}\n`);
}
