/** A bundle is paid for once, in full, before it is sent, and a retry sends the same bytes. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { nano } from "../../src/tacit/page/device/answering/ledger.js";
import { Client } from "../../src/tacit/page/device/client.js";
import { address } from "../../src/tacit/page/device/documents/hashing.js";
import * as listModel from "../../src/tacit/page/device/documents/list_model.js";
import { BudgetError, CertificateError, RequestError } from "../../src/tacit/page/device/errors.js";
import { exported } from "../../src/tacit/page/device/export.js";
import { ListProfile } from "../../src/tacit/page/device/recommending/list_profile.js";
import { DIRECT } from "../../src/tacit/page/device/shuffled/background.js";
import { ShuffledClient } from "../../src/tacit/page/device/shuffled/client.js";
import { BEGIN } from "../../src/tacit/page/device/shuffled/register.js";
import { SEALED_BYTES } from "../../src/tacit/page/device/shuffled/task.js";
import { Memory, Shop } from "./world.js";

const [PROVIDER, SHUFFLER] = ["https://films.example", "https://shuffler.example"];
const CLOSES = 2000;
/** @type {{ tasks: { task: string }[], announced: { task: string, announced: boolean }[] }} */
const HELD = JSON.parse(readFileSync(new URL("../vectors/shuffled.json", import.meta.url), "utf8"));
/** About items with an announced round, about items alone, and two about pairs. */
const [FIRST = "", , ALONE = "", PAIRS = "", MORE_PAIRS = ""] = HELD.tasks.map(({ task }) => task);
const COST = nano(JSON.parse(FIRST).replaced);
/** @type {typeof HELD} */
const STARS = JSON.parse(
  readFileSync(new URL("../vectors/shuffled_stars.json", import.meta.url), "utf8"),
);
/** About star ratings: items with an announced round, without and with a signer, and pairs. */
const [STAR = "", SIGNED_STAR = "", , STAR_PAIRS = ""] = STARS.tasks.map(({ task }) => task);
const STAR_COST = nano(JSON.parse(STAR).replaced);
const RATINGS = new Map(/** @type {[string | number, string | number][]} */ ([
  [100, 5], ["101", "1"], [103, "2.0"], [999, "off every scale"],
]));
const MODEL = Buffer.from(
  JSON.parse(readFileSync(new URL("../vectors/lists.json", import.meta.url), "utf8"))[0].model,
  "base64",
);

/** Of a rating model. @type {{ model: string, ratings: [string | number, number][],
 *   recommended: [string | number, number][] }} */
const PROFILE = JSON.parse(
  readFileSync(new URL("../vectors/profiles.json", import.meta.url), "utf8"),
)[0];

/** @typedef {Response | "cut"} Said */
/** @typedef {import("../../src/tacit/page/device/shuffled/client.js").ShuffledOutcome} ShuffledOutcome */

/** A shuffler and its provider in a few lines; `said` are responses to bundles. */
class Network {
  /** @type {string[]} */
  lines = [];
  /** @type {Map<string, string>} */
  tasks = new Map();
  /** @type {[string, string][]} */
  bundles = [];
  /** @type {Said[]} */
  said = [];
  /** @type {string[]} */
  asked = [];
  model = MODEL;
  newest = "";
  before = BEGIN;

  /** @param {object} values */
  async add(values) {
    this.lines.push(JSON.stringify({ before: this.before, ...values }));
    this.before = await address(this.lines.at(-1) ?? "");
  }

  /** @param {string[]} documents */
  async open(...documents) {
    for (const document of documents) {
      const task = await address(document);
      await this.add({ task, provider: JSON.parse(document).provider });
      this.tasks.set(task, document);
    }
    return this;
  }

  /** @param {string} document @param {string | null} [batch] */
  async close(document, batch = "0".repeat(64)) {
    await this.add({ task: await address(document), bundles: 20, batch });
  }

  /** @type {typeof globalThis.fetch} */
  fetch = async (url, { method = "GET", body, headers } = {}) => {
    const path = String(url).replace(/^https:..[a-z.]+/, "");
    this.asked.push(path);
    if (path === "/v1/register") return new Response(this.lines.map((line) => `${line}\n`).join(""));
    if (path === "/v1/ready") return new Response("{}");
    if (path.startsWith("/v1/models/")) return new Response(new Uint8Array(this.model));
    if (path.endsWith("/model")) return new Response(JSON.stringify({ model: this.newest }));
    const task = path.split("/")[3] ?? "";
    if (method === "GET") return new Response(this.tasks.get(task));
    assert.equal(new Headers(headers).get("Authorization"), "Bearer open-sesame");
    assert(body instanceof Uint8Array);
    this.bundles.push([task, Buffer.from(body).toString("hex")]);
    const said = this.said.shift() ?? new Response("{}");
    if (said === "cut") throw new TypeError("the connection is cut");
    return said;
  };
}

/**
 * @param {Network} network
 * @param {Memory} [store]
 * @param {Partial<import("../../src/tacit/page/device/shuffled/client.js").ShuffledWorld>} [changes]
 */
function device(network, store = new Memory(), changes = {}) {
  const policy = { mostEpsilon: "8", honest: "1", bundles: 20 };
  const usual = { store, shuffler: SHUFFLER, provider: PROVIDER, policy, lifetime: "50" };
  const { fetch } = network;
  /** @type {<T>(work: () => Promise<T>) => Promise<T>} */
  const alone = (work) => work();
  return new ShuffledClient({
    ...{ ...usual, fetch, alone, token: "open-sesame", clock: () => CLOSES - 1000, work: DIRECT },
    ...changes,
  });
}

/** @param {ShuffledClient} client */
async function spent(client) {
  return (await client.ledger()).spent;
}

test("one bundle per task, of a length that does not depend on the items", async () => {
  const network = await new Network().open(FIRST);
  const lengths = new Set();
  for (const items of [[], [100], [100, 101, 102, 103], [100, 100, "101", 7]]) {
    const client = device(network);
    assert.equal((await client.sync(items)).stored, 1);
    assert.equal((await client.sync([100])).stored, 0);
    assert.equal(await spent(client), COST);
    lengths.add(network.bundles.at(-1)?.[1].length);
  }
  assert.equal(network.bundles.length, 4);
  assert.deepEqual([...lengths], [2 * 43 * SEALED_BYTES]);
});

test("a retry sends the same bytes and pays nothing", async () => {
  const [network, store] = [await new Network().open(FIRST), new Memory()];
  const headers = { "Retry-After": "7" };
  network.said = ["cut", new Response("", { status: 503, headers }), new Response("", { status: 401 })];
  let now = 0;
  const [outcomes, attempts] = [/** @type {ShuffledOutcome[]} */ ([]), /** @type {unknown[]} */ ([])];
  for (let k = 0; k < 4; k++) {
    const client = device(network, store, { clock: () => now });
    const outcome = await client.sync([100]);
    outcomes.push(outcome);
    if (outcome.again !== null) {
      const before = network.asked.length;
      assert.equal((await client.sync([100])).again, outcome.again);
      assert.equal(network.asked.length, before); // nothing is requested before its time
      now = outcome.again;
    }
    attempts.push((await store.read()).shufflers[0]?.attempts);
    assert.equal(await spent(client), COST);
  }
  assert.deepEqual(outcomes.map(({ waiting }) => waiting), [1, 1, 1, 0]);
  assert.equal(outcomes[2]?.notes.length, 1);
  assert.deepEqual(attempts, [1, 2, 2, 0]);
  assert.equal(network.bundles.length, 4);
  assert.equal(new Set(network.bundles.map(String)).size, 1);
});

test("nothing leaves before debit and bundle are stored, and nothing is drawn twice", async () => {
  const [network, store] = [await new Network().open(FIRST), new Memory()];
  store.crash = () => true;
  await assert.rejects(device(network, store).sync([100]), /power/);
  assert.deepEqual([network.bundles, (await store.read()).ledger], [[], []]);
  store.crash = () => false;
  const { fetch } = network;
  network.fetch = async (url, request) => {
    if (request?.body instanceof Uint8Array && request.body.length > 0) {
      const { ledger, shuffled } = await store.read();
      assert.equal(ledger[0]?.spent, COST);
      assert.deepEqual(shuffled[0]?.bundle, request.body);
    }
    return fetch(url, request);
  };
  assert.equal((await device(network, store).sync([100])).stored, 1);
  assert.equal((await store.read()).shuffled[0]?.bundle, null);
});

test("a failure during the draws debits nothing", async () => {
  for (const draws of [0, 30]) {
    const network = await new Network().open(FIRST);
    let left = draws;
    const words = () => (left-- > 0 ? 0n : assert.fail("no entropy"));
    const client = device(network, new Memory(), { words });
    await assert.rejects(client.sync([100, 101]), /no entropy/);
    assert.deepEqual([await spent(client), network.bundles], [0n, []]);
  }
});

test("a refused bundle is deleted and stays paid", async () => {
  for (const status of [409, 410]) {
    const network = await new Network().open(FIRST);
    network.said = [new Response("", { status })];
    const client = device(network);
    const outcome = await client.sync([100]);
    assert.deepEqual([outcome.givenUp, outcome.waiting, await spent(client)], [1, 0, COST]);
    await client.sync([100]);
    assert.equal(network.bundles.length, 1);
  }
});

test("whatever the user did not allow is refused before any draw", async () => {
  const lenient = { mostEpsilon: "8", honest: "1", bundles: 20 };
  for (const [changes, kind] of /** @type {const} */ ([
    [{ policy: { ...lenient, mostEpsilon: "1" } }, CertificateError],
    [{ policy: { ...lenient, honest: "0.9" } }, CertificateError],
    [{ policy: { ...lenient, bundles: 21 } }, CertificateError],
    [{ policy: { mostEpsilon: "8" } }, CertificateError],
    [{ policy: { ...lenient, signed: true } }, CertificateError],
    [{ provider: "https://books.example" }, null],
    [{ lifetime: "1" }, BudgetError],
    [{ clock: () => CLOSES }, null],
  ])) {
    const network = await new Network().open(FIRST);
    const client = device(network, new Memory(), changes);
    if (kind === null) assert.equal((await client.sync([100])).waiting, 0);
    else await assert.rejects(client.sync([100]), kind);
    assert.deepEqual([await spent(client), network.bundles], [0n, []]);
  }
});

test("forged documents are refused before any draw", async () => {
  const weak = FIRST.replace(/"replaced":"[^"]+"/, '"replaced":"1"');
  const other = FIRST.replace(PROVIDER, "https://books.example");
  for (const [document, why] of /** @type {const} */ ([
    [weak, /holds at delta/],
    [other, /is of https:..books/],
  ])) {
    const network = new Network();
    const task = await address(document);
    await network.add({ task, provider: PROVIDER });
    network.tasks.set(task, document);
    const client = device(network);
    await assert.rejects(client.sync([100]), why);
    assert.deepEqual([await spent(client), network.bundles], [0n, []]);
  }
});

test("a register that was rewritten is refused", async () => {
  const [books, store] = [FIRST.replace(PROVIDER, "https://books.example"), new Memory()];
  await device(await new Network().open(books), store).sync([100]);
  const network = await new Network().open(FIRST);
  const client = device(network, store);
  await assert.rejects(client.sync([100]), /another list of tasks/);
  assert.deepEqual([await spent(client), network.bundles], [0n, []]);
});

test("the announced round is paid with the first task, every other one in full", async () => {
  const alone = nano(JSON.parse(ALONE).replaced);
  for (const [tasks, paid] of /** @type {const} */ ([
    [[FIRST, PAIRS], COST],
    [[PAIRS], COST],
    [[FIRST, PAIRS, MORE_PAIRS], 2n * COST],
    [[FIRST, ALONE], COST + alone],
  ])) {
    const network = new Network();
    const client = device(network);
    for (const task of tasks) {
      await network.open(task);
      assert.equal((await client.sync([100, 101, 102])).stored, 1);
      await network.close(task);
    }
    assert.equal(await spent(client), paid);
  }
});

test("erasure deletes the bundle and answers no task twice", async () => {
  const [network, store] = [await new Network().open(FIRST), new Memory()];
  network.said = ["cut"];
  const client = device(network, store);
  assert.equal((await client.sync([100])).waiting, 1);
  const known = JSON.parse(exported(await store.read()));
  assert.deepEqual(known.shuffled, [{ task: await address(FIRST), waiting: true }]);
  /** @type {<T>(work: () => Promise<T>) => Promise<T>} */
  const alone = (work) => work();
  await new Client({ store, collector: new Shop(new Uint8Array()), alone }).erase();
  await client.sync([101]);
  assert.equal(await spent(client), COST);
  assert.equal(network.bundles.length, 1);
});

test("between tasks a device reports that it is ready", async () => {
  const network = new Network();
  for (const items of [[], [100, 101]]) {
    const client = device(network);
    await client.sync(items);
    assert.equal(await spent(client), 0n);
  }
  assert.deepEqual(network.asked, ["/v1/register", "/v1/ready", "/v1/register", "/v1/ready"]);
});

test("the list model is that of the last released batch", async () => {
  const [network, other] = [await new Network().open(FIRST), ALONE];
  const client = device(network);
  assert.equal(await client.fetchModel(), null);
  await network.close(FIRST);
  await network.open(other);
  await network.close(other, null);
  network.newest = await address(new Uint8Array(MODEL));
  assert.notEqual(await client.fetchModel(), null);
  assert(network.asked.includes(`/v1/tasks/${await address(FIRST)}/model`));
  network.newest = "0".repeat(64);
  await assert.rejects(client.fetchModel(), /changed in transit/);
});

test("one bundle of ratings per task, of a length that does not depend on them", async () => {
  const network = await new Network().open(STAR);
  const lengths = new Set();
  for (const ratings of [{}, { 100: 1 }, RATINGS, new Map(), { 100: "3", 101: "3", 102: 3, 103: 3 }]) {
    const client = device(network);
    assert.equal((await client.sync(ratings)).stored, 1);
    assert.equal((await client.sync(ratings)).stored, 0);
    assert.equal(await spent(client), STAR_COST);
    lengths.add(network.bundles.at(-1)?.[1].length);
  }
  assert.equal(network.bundles.length, 5);
  assert.deepEqual([...lengths], [2 * 43 * SEALED_BYTES]);
});

test("both rounds about star ratings are one debit", async () => {
  const network = await new Network().open(STAR);
  const client = device(network);
  assert.equal((await client.sync(RATINGS)).stored, 1);
  await network.close(STAR);
  await network.open(STAR_PAIRS);
  assert.equal((await client.sync(RATINGS)).stored, 1);
  assert.equal(await spent(client), STAR_COST);
});

test("items of the other kind, and ratings off the scale, are refused and nothing is spent", async () => {
  const twice = new Map(/** @type {[string | number, number][]} */ ([[100, 5], ["100", 5]]));
  for (const [task, items, why] of /** @type {const} */ ([
    [STAR, [100], /pass ratings by item id/],
    [FIRST, { 100: 5 }, /pass a collection of ids/],
    [STAR, { 100: 6 }, /not on the scale 1:5:1/],
    [STAR, twice, /an item twice/],
  ])) {
    const network = await new Network().open(task);
    const client = device(network);
    await assert.rejects(client.sync(items), (error) => {
      assert(error instanceof RequestError);
      assert.match(error.message, why);
      return true;
    });
    assert.deepEqual([await spent(client), network.bundles], [0n, []]);
  }
});

test("no token is requested for items of the other kind", async () => {
  const [network, store] = [await new Network().open(SIGNED_STAR), new Memory()];
  const client = device(network, store);
  await assert.rejects(client.sync([100]), /pass ratings by item id/);
  assert.deepEqual((await store.read()).tokens, []);
  assert.equal((await client.sync(RATINGS)).stored, 0);
  assert.equal((await store.read()).tokens.length, 1);
});

test("a failure during the draws of signs debits nothing", async () => {
  for (const draws of [0, 3, 30]) {
    const network = await new Network().open(STAR);
    let left = draws;
    const words = () => (left-- > 0 ? 0n : assert.fail("no entropy"));
    const client = device(network, new Memory(), { words });
    await assert.rejects(client.sync({ 100: 3, 101: 3, 102: 3 }), /no entropy/);
    assert.deepEqual([await spent(client), network.bundles], [0n, []]);
  }
});

test("ratings are those of the call, whatever the page changes while it runs", async () => {
  const network = await new Network().open(STAR);
  const ratings = new Map([[100, 5]]);
  const outcome = device(network).sync(ratings);
  ratings.set(100, 9);
  assert.equal((await outcome).stored, 1);
});

test("lists are computed from items, and from ratings by item id", async () => {
  const network = await new Network().open(FIRST);
  const client = device(network);
  assert.deepEqual(await client.recommend([0, "b"], 3), []);
  await network.close(FIRST);
  network.newest = await address(new Uint8Array(MODEL));
  await client.fetchModel();
  const model = listModel.fromBytes(new Uint8Array(MODEL));
  const best = new ListProfile(model, [0, "b"]).recommend(3);
  assert.equal(best.length, 3);
  const ratings = new Map(/** @type {[string | number, number][]} */ ([[0, 5], ["b", 1]]));
  for (const items of [[0, "b"], new Set([0, "b"]), { 0: "5", b: 1 }, ratings])
    assert.deepEqual(await client.recommend(items, 3), best);
  await assert.rejects(client.recommend(["unknown"]), RequestError);
  await assert.rejects(client.recommend([0], 1.5), RequestError);
});

test("recommendations are computed without a request, by the model of the last sync", async () => {
  const network = await new Network().open(FIRST);
  const client = device(network);
  const items = [0, "b"];
  await client.sync([100]);
  network.asked = [];
  assert.deepEqual(await client.recommend(items, 3), []);
  assert.deepEqual(network.asked, []);
  await network.close(FIRST);
  const newest = await address(new Uint8Array(MODEL));
  const best = new ListProfile(listModel.fromBytes(new Uint8Array(MODEL)), items).recommend(3);
  // A model, then a malformed reply, bytes of another address, and the same model: no sync fails.
  for (const said of [newest, "", "0".repeat(64), newest]) {
    network.newest = said;
    network.asked = [];
    await client.sync([100]);
    assert(network.asked.includes(`/v1/tasks/${await address(FIRST)}/model`));
    network.asked = [];
    for (let k = 0; k < 2; k++) assert.deepEqual(await client.recommend(items, 3), best);
    assert.deepEqual(network.asked, []);
  }
});

test("a rating model recommends from ratings alone, as in Python", async () => {
  const network = await new Network().open(STAR);
  await network.close(STAR);
  network.model = Buffer.from(PROFILE.model, "base64");
  network.newest = await address(new Uint8Array(network.model));
  const client = device(network);
  for (const ratings of [new Map(PROFILE.ratings), Object.fromEntries(PROFILE.ratings)]) {
    const best = await client.recommend(ratings, PROFILE.recommended.length);
    assert.deepEqual(best.map(({ item }) => item), PROFILE.recommended.map(([item]) => item));
    best.forEach(({ score }, k) => assert(Math.abs(score - (PROFILE.recommended[k]?.[1] ?? NaN)) < 1e-9));
  }
  await assert.rejects(client.recommend([0, "b"]), /pass ratings by item id/);
  await assert.rejects(client.recommend({ 0: "4.5" }), /not on the scale 1:5:1/);
});

test("URLs and policies that are invalid", async () => {
  const network = new Network();
  const policy = { mostEpsilon: "8" };
  for (const changes of [
    { shuffler: "http://shuffler.example" },
    { shuffler: "shuffler.example" },
    { provider: "https://me@films.example" },
    { policy: { ...policy, mostEpsilon: "1e3" } },
    { policy: { ...policy, bundles: 1.5 } },
    { policy: { ...policy, signed: /** @type {any} */ ("no") } },
    { lifetime: "-1" },
    { shuffler: "https://:password@shuffler.example" },
    { provider: "http://me:password@films.example" },
    ...["two\nlines-password", "a password", "", "t".repeat(4097)].flatMap((token) => [
      { token },
      { providerToken: token },
    ]),
  ])
    assert.throws(
      () => device(network, new Memory(), changes),
      (error) => error instanceof RequestError && !error.message.includes("password"),
    );
  for (const items of /** @type {any[]} */ (["100", null, Promise.resolve([100])]))
    assert.throws(() => device(network).sync(items), RequestError);
});
