/**
 * A device of the page that lives through the scenarios of `tests/vectors/device_scenarios.json`.
 *
 * `ACTS` is all that a step may do. `tests/importable/scenario_device.py` is the twin of this file.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { nats } from "../../src/tacit/page/device/answering/ledger.js";
import { Client } from "../../src/tacit/page/device/client.js";
import { address } from "../../src/tacit/page/device/documents/hashing.js";
import * as wireTask from "../../src/tacit/page/device/documents/task.js";
import { BudgetError, TacitError } from "../../src/tacit/page/device/errors.js";
import { Collector } from "../../src/tacit/page/device/sending/collector.js";
import { Memory, PROVIDER, former } from "./world.js";

/** @typedef {import("../../src/tacit/page/device/client.js").SyncOutcome} SyncOutcome */
/** @typedef {import("../../src/tacit/page/device/documents/task.js").Task} Task */
/** @typedef {number | "lost" | "cut" | { status: number, retry_after?: number, text?: string,
 *   refused?: { [index: string]: string } }} Said */
/** @typedef {{ to: string, erase?: unknown }} Request */
/** @typedef {{ do: string, refuses?: string, sends?: Request[], holds?: object, spent?: string,
 *   task: string, origin: string, most_epsilon: string, lifetime: string, place: number, level: string | null, now: number,
 *   answers?: Said[], knows?: string[], forges?: { [task: string]: [string, string] } }} Step */
/** @typedef {{ name: string, steps: Step[], store?: "rated" | "catalogue" | "sample",
 *   now?: number }} Scenario */
/** @typedef {{ id: string, epsilon: string }} Table */

/** @type {{ secrets: string[], words: string[], tables: { [name: string]: Table },
 *   tasks: { [name: string]: { channels?: string[], extends?: string, items?: unknown,
 *     titles?: unknown } }, scenarios: Scenario[],
 *   bodies: { [name: string]: string[] } }} */
export const HELD = JSON.parse(
  readFileSync(new URL("../vectors/device_scenarios.json", import.meta.url), "utf8"),
);
/** @type {Map<string, string>} */
const DOCUMENTS = new Map();
/** @type {Map<string, string>} */
export const ADDRESSES = new Map();
for (const [name, { extends: before, ...task }] of Object.entries(HELD.tasks)) {
  const channels = task.channels?.map((table) => HELD.tables[table]);
  const parent = ADDRESSES.get(before ?? "");
  const extension = `tacit-extension-${"threshold" in task ? 2 : 1}`;
  const format = "items" in task ? extension : "tacit-move-1";
  const fields = before === undefined ? { ...task, channels } : { format, parent, ...task };
  const line = JSON.stringify(fields);
  DOCUMENTS.set(name, before === undefined ? line : `${DOCUMENTS.get(before)}\n${line}`);
  ADDRESSES.set(name, await address(line));
}
const NAMES = new Map([...ADDRESSES].map(([name, found]) => [found, name]));
export const QUIET = {
  ...{ stored: 0, waiting: 0, given_up: 0, late: 0, refused: 0, erased: 0, erasing: 0 },
  ...{ again: /** @type {number | null} */ (null), notes: false },
};

/** A network that answers as told; otherwise it takes one payload an id and no other. */
class Provider {
  /** @type {Said[]} */
  answers = [];
  /** @type {{ [task: string]: [string, string] }} */
  forged = {};
  known = new Set(DOCUMENTS.keys());
  origin = PROVIDER;
  /** @type {[string, string][]} */
  sent = [];
  /** @type {Map<string, string>} */
  kept = new Map();

  /** @type {typeof globalThis.fetch} */
  fetch = async (path, { method, body } = {}) => {
    const { origin, pathname } = new URL(String(path));
    assert.equal(origin, this.origin);
    const name = NAMES.get(pathname.split("/")[3] ?? "") ?? assert.fail();
    if (method !== "POST") return this.#document(name);
    this.sent.push([pathname, String(body)]);
    const said = this.answers.shift() ?? 200;
    if (said === "cut") throw new TypeError("the connection is cut");
    const { reports = [] } = JSON.parse(String(body));
    if (said !== 200 && said !== "lost") return refusal(said, reports);
    const taken = this.#take(name, reports);
    if (said === "lost") throw new TypeError("the answer is lost");
    return taken;
  };

  /** @param {string} name */
  #document(name) {
    const [before, now] = this.forged[name] ?? ["", ""];
    return new Response(DOCUMENTS.get(name)?.replace(before, now));
  }

  /**
   * @param {string} name
   * @param {{ id: string }[]} reports
   */
  #take(name, reports) {
    if (!this.known.has(name)) return new Response("{}", { status: 404 });
    for (const report of reports) {
      const first = this.kept.get(report.id) ?? JSON.stringify(report);
      if (first !== JSON.stringify(report)) return new Response("", { status: 409 });
      this.kept.set(report.id, first);
    }
    return new Response("{}");
  }
}

/**
 * @param {Exclude<Said, string>} said
 * @param {{ id: string }[]} reports
 */
function refusal(said, reports) {
  if (typeof said === "number") return new Response("{}", { status: said });
  const { status, retry_after, text, refused } = said;
  const why = Object.entries(refused ?? {}).map(([k, problem]) => {
    return { id: reports[Number(k)]?.id, problem, detail: "no" };
  });
  const headers = { "Retry-After": String(retry_after ?? 0) };
  const told = refused === undefined || reports.length === 0 ? "{}" : JSON.stringify({ refused: why });
  return new Response(text ?? told, { status, headers });
}

/** One scenario's device, its provider and its clock; the words of its draws, in order. */
export class Life {
  store = new Memory();
  provider = new Provider();
  collector = new Collector({ origin: PROVIDER, fetch: this.provider.fetch });
  #words;

  /** @param {{ now?: number, words?: string[] }} [given] */
  constructor({ now = 1000, words = HELD.words } = {}) {
    this.now = now;
    this.#words = words.map((word) => BigInt(`0x${word}`)).values();
    this.client = this.opened();
  }

  /** @param {"rated" | "catalogue" | "sample"} store that an older page left */
  async inherit(store) {
    await this.store.commit({ put: former(store).rows });
  }

  opened() {
    const clock = () => this.now;
    const words = () => this.#words.next().value ?? assert.fail("no word is left");
    /** @type {<T>(work: () => Promise<T>) => Promise<T>} */
    const alone = (work) => work();
    return new Client({ store: this.store, collector: this.collector, clock, words, alone });
  }

  /** @param {string} name */
  async task(name) {
    const found = ADDRESSES.get(name) ?? assert.fail(name);
    return wireTask.loads(await this.collector.task(found), found);
  }

  /** The task that was agreed to. */
  async agreed() {
    const [owner] = (await this.store.read()).owner;
    return this.task(NAMES.get(owner?.task ?? "") ?? assert.fail());
  }

  async spent() {
    return nats((await this.store.read()).ledger[0]?.spent ?? 0n);
  }
}

/**
 * What became of reports; a sentence is in the words of each device.
 * @param {Promise<SyncOutcome>} outcome
 */
async function became(outcome) {
  const { givenUp, refused, refusal, notes, ...rest } = await outcome;
  assert.equal(refusal instanceof BudgetError, refused > 0);
  return { ...rest, given_up: givenUp, refused, notes: notes.length > 0 };
}

/** @type {{ [act: string]: (life: Life, step: Step) => unknown }} */
const ACTS = {
  agree,
  "agree and sync": async (life, step) => {
    await agree(life, step);
    return became(life.client.sync());
  },
  meet: async (life, { task }) => assert(await life.client.updateTask(await life.task(task))),
  at: (life, { origin }) => {
    life.provider.origin = origin;
    life.collector = new Collector({ origin, fetch: life.provider.fetch });
    life.client = life.opened();
  },
  reopen: (life) => void (life.client = life.opened()),
  rate: async (life, { place, level }) => {
    const task = await life.agreed();
    await life.client.rate(task, task.items[place] ?? "no item of it", level);
  },
  clock: (life, { now }) => void (life.now = now),
  provider: ({ provider }, { answers = [], knows = DOCUMENTS.keys(), forges = {} }) => {
    Object.assign(provider, { answers: [...answers], known: new Set(knows), forged: forges });
  },
  sync: (life) => became(life.client.sync()),
  retry: (life) => became(life.client.resend()),
  erase: (life) => became(life.client.erase()),
  export: async (life, { holds = {} }) => {
    const held = placed(JSON.parse(await life.client.export()));
    return Object.fromEntries(Object.entries(held).filter(([key]) => key in holds));
  },
};

/** @type {(life: Life, step: Step) => Promise<void>} */
async function agree(life, { task, most_epsilon: mostEpsilon, lifetime }) {
  return life.client.accept(await life.task(task), { mostEpsilon, lifetime });
}

/**
 * What is exported, by place, as the Python device has it; whether each report waits.
 * @param {{ [store: string]: any[] }} held
 */
function placed({ owner, ledger, ratings, answers, blocks, reported, made, outbox }) {
  const tables = Object.values(HELD.tables).reverse(); // what is forged of a table comes after it
  const epsilons = new Map(tables.map(({ id, epsilon }) => [id, epsilon]));
  const valued = (/** @type {any} */ { place, value, channel, symbol }) => {
    const known = [place, value === "missing" ? null : value, epsilons.get(channel)];
    return symbol === undefined ? known : [...known, symbol];
  };
  const waits = (/** @type {any} */ one) =>
    outbox?.some(({ epoch, place }) => epoch === one.epoch && place === one.place) ?? false;
  const task = {
    ratings: ratings?.map(({ place, level }) => [place, level]),
    answers: answers && [...answers, ...byPlace(blocks ?? [])].map(valued),
    reported: reported?.map(valued),
    reports: made?.map((one) => [one.epoch, waits(one)]),
  };
  const spent = ledger?.[0]?.spent ?? "0";
  return { spent, lifetime: owner?.[0]?.limit, tasks: owner?.length ? [task] : [] };
}

/** @param {{ place: number }[]} blocks by generation */
function byPlace(blocks) {
  return [...blocks].sort((a, b) => a.place - b.place);
}

/**
 * Puts fixed secrets and waits in the place of random ones; words are given to each life.
 * @param {string[]} secrets
 */
export function fix(secrets) {
  const left = secrets.map((secret) => Buffer.from(secret, "hex")).values();
  Math.random = () => 0.5;
  crypto.getRandomValues = (bytes) => {
    if (bytes instanceof Uint8Array) bytes.set(left.next().value ?? assert.fail("no secret is left"));
    return bytes;
  };
}

/**
 * What comes of a step: the kind of a refusal, what is held, or what became of reports.
 * @param {Life} life
 * @param {Step} step
 */
export async function lived(life, step) {
  try {
    return await (ACTS[step.do] ?? assert.fail(step.do))(life, step);
  } catch (error) {
    if (error instanceof TacitError) return error.constructor.name;
    throw error;
  }
}
