/** What a device does: answers once, debits before, sends the same bytes again, tells no rating. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { BudgetError, CertificateError } from "../../src/tacit/page/device/errors.js";
import { nano, nats } from "../../src/tacit/page/device/answering/ledger.js";
import { Client } from "../../src/tacit/page/device/client.js";
import { Collector } from "../../src/tacit/page/device/sending/collector.js";
import * as listModel from "../../src/tacit/page/device/documents/list_model.js";
import { ListProfile } from "../../src/tacit/page/device/recommending/list_profile.js";
import { together } from "../../src/tacit/page/view/words/nouns.js";
import { Memory, chance, device, example, itemAt } from "./world.js";

const LEVELS = ["1", "2", "3", "4", "5"];
const REPORT =
  /^\{"id":"[0-9a-f]{32}","mech":"[0-9a-f]{64}","schema":1,"epoch":\d+,"person":"[0-9a-f]{32}","cells":\[\[\d+, *\d+\](,\[\d+, *\d+\])*\]\}$/;

/** @param {import("./world.js").Memory} store */
async function spent(store) {
  return (await store.read()).ledger[0]?.spent ?? 0n;
}

/** @param {string} body */
function reportsOf(body) {
  return body.slice('{"reports":['.length, -"]}".length).split(/,(?=\{"id")/);
}

test("a rating is answered for once, whatever is pressed", async () => {
  const { client, store, shop, task, set } = await device("rated");
  await client.rate(task, itemAt(task, 2), "4");
  assert.equal((await client.sync()).stored, 1);
  for (const epoch of [0, 1, 2]) {
    set(epoch);
    assert.equal((await client.sync()).stored, 0);
  }
  assert.equal(await spent(store), nano("1"));
  assert.equal(shop.bodies.length, 1);
});

test("another rating waits for the next epoch; the old one is answered as before", async () => {
  const { client, store, shop, task, set } = await device("rated");
  const said = [];
  for (const [epoch, level, made] of /** @type {const} */ ([
    [0, "4", 1],
    [0, "1", 0],
    [1, "1", 1],
    [2, "4", 1],
    [3, "1", 1],
  ])) {
    set(epoch);
    await client.rate(task, itemAt(task, 2), level);
    assert.equal((await client.sync()).stored, made);
    if (made) said.push([...shop.reports.values()].at(-1)?.cells[0]?.[1]);
  }
  assert.equal(await spent(store), 2n * nano("1"));
  assert.equal(said[0], said[2]);
  assert.equal(said[1], said[3]);
});

test("when the limit is reached the rest is refused, and an old answer still goes", async () => {
  const { client, store, task, set } = await device("rated", { lifetime: "2.5" });
  for (const place of [0, 1, 2, 3]) await client.rate(task, itemAt(task, place), "5");
  const { stored, refused } = await client.sync();
  assert.deepEqual([stored, refused], [2, 2]);
  set(1);
  await client.rate(task, itemAt(task, 0), "1");
  assert.deepEqual(await client.sync().then((one) => [one.stored, one.refused]), [0, 3]);
  assert.equal(await spent(store), 2n * nano("1"));
});

for (const plan of ["catalogue", "sample:3"]) {
  test(`${plan}: two people of one secret send the same shape, whatever they rated`, async () => {
    const random = chance(1);
    for (let pair = 0; pair < 15; pair++) {
      const shapes = await Promise.all([shape(plan, random), shape(plan, random)]);
      assert.deepEqual(shapes[0], shapes[1]);
    }
  });
}

/**
 * Lengths and places of all that is sent in four epochs of random ratings and a tight limit.
 * @param {string} plan
 * @param {() => number} random
 */
async function shape(plan, random) {
  const { client, store, shop, task, set } = await device(plan, { lifetime: "7" });
  const { owner } = await store.read();
  await store.commit({
    put: { owner: owner.map((one) => ({ ...one, secret: new Uint8Array(32) })) },
  });
  for (let epoch = 0; epoch < 4; epoch++) {
    set(epoch);
    for (const place of task.items.keys()) {
      if (random() >= 0.5) continue;
      const level = LEVELS[Math.floor(5 * random())] ?? "1";
      await client.rate(task, itemAt(task, place), level);
    }
    await client.sync();
  }
  assert((await spent(store)) <= nano("7"));
  return shop.bodies.map((body) =>
    body.replace(/(\[\d+,) *\d+\]/g, (cell) => `${cell.length}${cell.split(",")[0]}`),
  );
}

test("a limit is kept to the nano-epsilon", async () => {
  for (const [lifetime, stored] of /** @type {const} */ ([
    ["2", 2],
    ["1.999999999", 1],
  ])) {
    const { client, task } = await device("rated", { lifetime });
    for (const place of [0, 1, 2]) await client.rate(task, itemAt(task, place), "5");
    assert.equal((await client.sync()).stored, stored);
  }
});

test("a cleared rating is answered as not rated, when there is epsilon for it", async () => {
  for (const [lifetime, refused] of /** @type {const} */ ([
    ["7", 0],
    ["6", 1],
  ])) {
    const { client, store, task, set } = await device("catalogue", { lifetime });
    await client.rate(task, itemAt(task, 0), "5");
    await client.sync();
    await client.rate(task, itemAt(task, 0), null);
    set(1);
    assert.equal((await client.sync()).refused, refused);
    const last = (await store.read()).reported.find(({ place }) => place === 0);
    assert.equal(last?.value, refused === 0 ? "missing" : "5");
  }
});

test("a channel one goes back to repeats what it said, so that silence never tells", async () => {
  const { client, store, shop, task, set } = await device("catalogue", { lifetime: "9.1" });
  for (const [epoch, maximum, level] of /** @type {const} */ ([
    [0, "1", "5"],
    [1, "0.5", "4"],
    [2, "1", "3"],
  ])) {
    set(epoch);
    await client.accept(task, { mostEpsilon: maximum, lifetime: "9.1" });
    for (const item of task.items) await client.rate(task, item, level);
    assert.equal((await client.sync()).stored, 1);
  }
  const [first, , third] = [...shop.reports.values()];
  assert.deepEqual(first?.cells, third?.cells);
  assert.equal(await spent(store), nano("9"));
});

test("a first report over slots is all or nothing", async () => {
  const { client, store, shop } = await device("catalogue", { lifetime: "5.9" });
  await assert.rejects(client.sync(), BudgetError);
  assert.equal(await spent(store), 0n);
  assert.equal(shop.bodies.length, 0);
});

test("what a device sends is of the report's form and holds no rating", async () => {
  // Every word is 0, so that every symbol is 0, whatever was rated.
  for (const plan of ["rated", "catalogue", "sample:3"]) {
    const { client, shop, task } = await device(plan, { words: () => 0n });
    for (const item of task.items) await client.rate(task, item, "5");
    await client.sync();
    const reports = shop.bodies.flatMap(reportsOf);
    assert(reports.length > 0);
    for (const report of reports) {
      assert.match(report, REPORT);
      assert(JSON.parse(report).cells.every((/** @type {number[]} */ cell) => cell[1] === 0));
    }
  }
});

test("a rating off the scale is refused and its value is in no sentence", async () => {
  const { client, store, task } = await device("rated");
  await assert.rejects(
    client.rate(task, itemAt(task, 0), "4.25"),
    (error) => error instanceof Error && !error.message.includes("4.25"),
  );
  assert.equal((await store.read()).ratings.length, 0);
});

test("a task that changed, or asks too much, gets no answer and costs nothing", async () => {
  const { client, store, shop, task } = await device("rated");
  await client.rate(task, itemAt(task, 0), "5");
  shop.document = Uint8Array.from(shop.document, (byte, at) => (at === 40 ? byte ^ 1 : byte));
  await assert.rejects(client.sync(), CertificateError);
  await assert.rejects(client.accept(task, { mostEpsilon: "0.49", lifetime: "9" }), CertificateError);
  assert.equal(await spent(store), 0n);
  assert.equal(shop.bodies.length, 0);
});

test("erasing forgets all but the sum spent, and the sum counts for the next secret", async () => {
  const { client, store, task } = await device("rated", { lifetime: "1.5" });
  await client.rate(task, itemAt(task, 0), "5");
  await client.sync();
  await client.erase();
  const { ledger, ...rest } = await store.read();
  assert(Object.values(rest).every((rows) => rows.length === 0));
  assert.equal(ledger[0]?.spent, nano("1"));
  await client.accept(task, { mostEpsilon: "1", lifetime: "1.5" });
  await client.rate(task, itemAt(task, 1), "5");
  assert.equal((await client.sync()).refused, 1);
});

test("a report too old is dropped; its answer goes into a later one, free", async () => {
  const { client, store, shop, task, set } = await device("rated");
  await client.rate(task, itemAt(task, 0), "5");
  shop.outcome = () => ({ status: 503 });
  assert.equal((await client.sync()).waiting, 1);
  const [first] = (await store.read()).answers;
  shop.outcome = () => null;
  set(task.window + 1);
  const { late, stored } = await client.sync();
  assert.deepEqual([late, stored], [1, 1]);
  assert.equal([...shop.reports.values()][0]?.cells[0]?.[1], first?.symbol);
  assert.equal(await spent(store), nano("1"));
});

test("through crashes: one payload an id, one symbol a value, never overspent", async () => {
  const random = chance(2);
  for (let life = 0; life < 21; life++) {
    const plan = ["rated", "catalogue", "sample:3"][life % 3] ?? "rated";
    const { client, store, shop, task, set } = await device(plan, { lifetime: "11" });
    /** @type {Map<string, string>} */
    const payloads = new Map();
    store.crash = () => random() < 0.2;
    shop.outcome = (body) => {
      for (const report of reportsOf(body)) {
        const { id } = JSON.parse(report);
        assert.equal(payloads.get(id) ?? report, report);
        payloads.set(id, report);
      }
      return random() < 0.3 ? { status: 0 } : null;
    };
    for (let step = 0; step < 25; step++) {
      set(step / 4);
      const place = Math.floor(6 * random());
      const level = LEVELS[Math.floor(5 * random())] ?? "1";
      await client.rate(task, itemAt(task, place), level).catch(() => {});
      await client.sync().catch((error) => assert.match(error.message, /the power is out/));
      const { answers } = await store.read();
      assert.equal(await spent(store), BigInt(answers.length) * nano("1"));
      assert((await spent(store)) <= nano("11"));
    }
    assert(payloads.size > 0);
  }
});

test("nobody can enrol for less than the task asks", async () => {
  const { task } = await example("rated");
  const { client } = await device("rated");
  const wrong = /is not a plain decimal/;
  await assert.rejects(client.accept(task, { mostEpsilon: "x", lifetime: "1" }), wrong);
  await assert.rejects(client.accept(task, { mostEpsilon: "1", lifetime: "-1" }), wrong);
});

test("neither the button nor a reload asks earlier than the collector wants", async () => {
  const { client, shop, task, set, reload } = await device("rated");
  await client.rate(task, itemAt(task, 0), "5");
  shop.outcome = () => ({ status: 503, retryAfter: 600 });
  const { again } = await client.sync();
  assert(again !== null && again >= task.start + 600 && again <= task.start + 660);
  for (const one of [client, reload()]) {
    assert.equal((await one.resend()).again, again);
    assert.equal((await one.sync()).again, again);
  }
  assert.equal(shop.bodies.length, 1);
  shop.outcome = () => null;
  set(0.01);
  assert.equal((await reload().resend()).stored, 1);
  assert.equal(shop.bodies[0], shop.bodies[1]);
});

test("until the end of a pause nothing is downloaded; the task that the page has is answered", async () => {
  const { client, store, shop, task, set, reload } = await device("rated");
  await client.rate(task, itemAt(task, 0), "5");
  shop.outcome = () => ({ status: 503, retryAfter: 600 });
  const { again } = await client.sync();
  shop.downloads = [];
  await client.rate(task, itemAt(task, 1), "4");
  const reloaded = reload();
  for (const [waiting, cost] of /** @type {const} */ ([[1, "1"], [2, "2"]])) {
    const outcome = await reloaded.sync();
    assert.deepEqual([outcome.again, outcome.waiting, outcome.notes], [again, waiting, []]);
    assert.equal(await spent(store), nano(cost));
    assert.equal(await reloaded.updateTask(task), true); // as a page does when it is shown
  }
  assert.deepEqual([shop.bodies.length, shop.downloads], [1, []]);
  shop.outcome = () => null;
  set(0.01);
  assert.equal((await reloaded.sync()).stored, 2);
  assert(shop.downloads.includes("task"));
});

test("only an outbox that got through ends a failure", async () => {
  const { client, store, shop, task, set } = await device("rated");
  const attempts = [];
  for (const [k, status] of [503, 403, 0, 200, 500].entries()) {
    set(k);
    shop.outcome = () => (status === 200 ? null : { status });
    await client.rate(task, itemAt(task, k % 2), "5");
    await client.sync();
    set(k + 0.5);
    attempts.push((await store.read()).pause[0]?.attempts ?? 0);
  }
  // What was sent in the fourth is gone; the last one has nothing to send, and asks nobody.
  assert.deepEqual(attempts, [1, 1, 2, 0, 0]);
  await client.rate(task, itemAt(task, 2), "5");
  await client.sync();
  set(14);
  shop.outcome = () => null;
  const { late, stored } = await client.rate(task, itemAt(task, 2), null).then(() => client.sync());
  assert.deepEqual([late, stored, (await store.read()).pause[0]?.attempts], [1, 0, 1]);
});

test("a clock that was wrong is forgiven", async () => {
  const { client, shop, task, set } = await device("rated");
  await client.rate(task, itemAt(task, 0), "5");
  set(5);
  shop.outcome = () => ({ status: 503 });
  await client.sync();
  set(3);
  shop.outcome = () => null;
  assert.equal((await client.resend()).stored, 1);
});

test("a clock set back never gives one id two payloads", async () => {
  for (const plan of ["rated", "catalogue", "sample:3"]) {
    const { client, shop, task, set } = await device(plan, { lifetime: "90" });
    /** @type {Map<string, string>} */
    const payloads = new Map();
    shop.outcome = (body) => {
      for (const report of reportsOf(body)) {
        const { id } = JSON.parse(report);
        assert.equal(payloads.get(id) ?? report, report);
        payloads.set(id, report);
      }
      return null;
    };
    const made = [];
    for (const [k, epoch] of [5, 6, 5, 7, 6, 5].entries()) {
      set(epoch);
      for (const item of task.items) await client.rate(task, item, LEVELS[k % 5] ?? "1");
      made.push((await client.sync()).stored > 0);
    }
    assert.deepEqual(made, [true, true, false, true, false, false]);
  }
});

for (const [problem, due] of /** @type {const} */ ([
  ["epoch", 1],
  ["cells", 1],
  ["conflict", 0],
])) {
  test(`${problem}: what was given up is due again ${due} times, free, in a later epoch`, async () => {
    const { client, store, shop, task, set } = await device("rated");
    await client.rate(task, itemAt(task, 0), "5");
    await client.rate(task, itemAt(task, 1), "4");
    shop.outcome = (body) => {
      const { id } = JSON.parse(reportsOf(body)[0] ?? "");
      return { status: 422, refused: [{ id, problem, detail: "why" }] };
    };
    const { stored, waiting, notes } = await client.sync();
    assert.deepEqual([stored, waiting, notes.length], [1, 0, 1]);
    shop.outcome = () => null;
    assert.equal((await client.sync()).stored, 0);
    const { answers } = await store.read();
    set(1);
    assert.equal((await client.sync()).stored, due);
    assert.equal((await client.sync()).stored, 0);
    assert.equal(await spent(store), 2n * nano("1"));
    const symbol = answers.find(({ place }) => place === 0)?.symbol;
    if (due) assert.deepEqual([...shop.reports.values()].at(-1)?.cells, [[0, symbol]]);
  });
}

test("what became of a report over slots changes no cell", async () => {
  for (const lost of ["given up", "late"]) {
    const { client, store, shop, task, set } = await device("catalogue", { lifetime: "6" });
    shop.outcome = (body) => {
      const { id } = JSON.parse(reportsOf(body)[0] ?? "");
      const refused = [{ id, problem: "epoch", detail: "why" }];
      return lost === "late" ? { status: 503 } : { status: 422, refused };
    };
    await client.sync();
    const { reported } = await store.read();
    await client.rate(task, itemAt(task, 0), "5");
    set(task.window + 1);
    shop.outcome = () => null;
    const { stored, late, refused } = await client.sync();
    assert.deepEqual([stored, late, refused], [1, Number(lost === "late"), 1]);
    const cells = [...shop.reports.values()].at(-1)?.cells;
    const { answers } = await store.read();
    assert.deepEqual(cells, answers.map(({ place, symbol }) => [place, symbol]));
    assert.equal(reported.length, 6);
  }
});

test("under rated another maximum makes nothing due", async () => {
  const { client, store, task, set } = await device("rated");
  const told = [];
  for (const [epoch, maximum, level] of /** @type {const} */ ([
    [0, "1", "3"],
    [1, "2", "3"],
    [6, "2", "4"],
    [7, "1", "4"],
    [5, "1", "3"], // a clock that is set back
    [8, "2", "3"],
  ])) {
    set(epoch);
    await client.accept(task, { mostEpsilon: maximum, lifetime: "9" });
    await client.rate(task, itemAt(task, 0), level);
    told.push([(await client.sync()).stored, Number(nats(await spent(store)))]);
  }
  // The fifth is the first answer again: 3 was not what was told last, through any channel.
  assert.deepEqual(told, [[1, 1], [0, 1], [1, 3], [0, 3], [1, 3], [0, 3]]);
});

test("what a first report through a channel costs does not hang on what was rated", async () => {
  for (const rated of [0, 1, 6]) {
    const { client, store, task, set } = await device("catalogue", { lifetime: "17" });
    await client.sync();
    set(1);
    await client.accept(task, { mostEpsilon: "2", lifetime: "17" });
    for (let place = 0; place < rated; place++) await client.rate(task, itemAt(task, place), "3");
    await assert.rejects(client.sync(), /costs epsilon = 12, but 11 of your lifetime budget is left/);
    assert.equal(await spent(store), nano("6"));
  }
});

test("ratings belong to their task: another one begins with none", async () => {
  const { client, store, shop, task } = await device("rated");
  await client.rate(task, itemAt(task, 0), "5");
  const other = await example("catalogue");
  shop.document = other.document;
  await client.accept(other.task, { mostEpsilon: "1", lifetime: "9" });
  await client.sync();
  const { answers, ratings } = await store.read();
  assert.equal(answers.length, 6);
  assert(answers.every(({ task: asked, value }) => asked !== task.address && value === "missing"));
  assert.equal(ratings.length, 1);
});

test("what travels lets nobody send in the owner's name", async () => {
  const { client, store, shop, task } = await device("rated");
  await client.register("the-leave-to-send");
  await client.rate(task, itemAt(task, 0), "5");
  await client.rate(task, itemAt(task, 1), "4");
  shop.outcome = () => ({ status: 503 });
  await client.sync();
  const rows = await client.read();
  const text = await client.export();
  const names = reportsOf(shop.bodies[0] ?? "").map((report) => JSON.parse(report));
  const secret = Buffer.from(rows.owner[0]?.secret ?? []).toString("hex");
  assert.equal(secret.length, 64);
  const sent = names.flatMap(({ id, person }) => [id, person]);
  for (const hidden of [secret, "the-leave-to-send", ...sent]) assert(!text.includes(hidden));
  const held = JSON.parse(text);
  assert.deepEqual(held.owner, [{ task: task.address, maximum: "1", limit: "100" }]);
  assert.deepEqual(held.ledger, [{ self: "lifetime", spent: nats(await spent(store)) }]);
  assert.deepEqual(held.ratings, rows.ratings);
  assert.deepEqual(held.answers, rows.answers);
  assert.deepEqual(held.reported, rows.reported);
  assert.deepEqual(held.made, rows.made);
  assert.equal(held.outbox.length, 2);
});

test("a token is stored for a collector of https, and for one of this machine", async () => {
  for (const origin of ["https://films.example", "http://localhost:8000", "http://127.0.0.1", "http://[::1]:8000"]) {
    const store = new Memory();
    const token = "!".repeat(4096);
    await new Client({ store, collector: new Collector({ origin }) }).register(token);
    assert.equal((await store.read()).enrolment[0]?.token, token);
  }
});

/** Two list models. @type {{ model: string }[]} */
const LISTS = JSON.parse(readFileSync(new URL("../vectors/lists.json", import.meta.url), "utf8"));
const [ONE, OTHER] = LISTS.map(({ model }) => Uint8Array.from(Buffer.from(model, "base64")));

/** @param {Uint8Array<ArrayBuffer> | undefined} bytes */
function bestOf(bytes) {
  return new ListProfile(listModel.fromBytes(bytes ?? assert.fail()), []).recommend(3);
}

test("recommendations are computed without a request, by the model of the last sync", async () => {
  const { client, shop, task, set } = await device("rated");
  shop.published = ONE ?? null;
  assert.notDeepEqual(bestOf(ONE), bestOf(OTHER));
  for (const [epoch, published, downloads, best] of /** @type {const} */ ([
    [0, ONE, ["task", "newest model", "model"], ONE],
    [1, ONE, ["task", "newest model"], ONE],
    [2, OTHER, ["task", "newest model", "model"], OTHER],
    [3, null, ["task", "newest model"], OTHER],
    [4, ONE, ["task", "newest model", "model"], ONE],
  ])) {
    set(epoch);
    shop.published = published ?? null;
    shop.downloads = [];
    await client.sync();
    assert.deepEqual(shop.downloads, downloads);
    shop.published = OTHER ?? null; // not before the next sync
    for (let k = 0; k < 2; k++) assert.deepEqual(await client.recommend(task, 3), bestOf(best));
    assert.deepEqual(shop.downloads, downloads);
  }
});

test("without a sync the first recommendation fetches the model, also if there is none", async () => {
  const { shop, task, reload } = await device("rated");
  for (const [published, downloads] of /** @type {const} */ ([
    [null, ["newest model"]],
    [ONE, ["newest model", "model"]],
  ])) {
    shop.published = published ?? null;
    shop.downloads = [];
    const client = reload();
    const best = published === null ? [] : bestOf(ONE);
    for (let k = 0; k < 2; k++) assert.deepEqual(await client.recommend(task, 3), best);
    assert.deepEqual(shop.downloads, downloads);
    await client.fetchModel(task);
    assert.deepEqual(shop.downloads, [...downloads, "newest model"]);
  }
});

test("a model that cannot be fetched fails no sync, and a forged one is not used", async () => {
  const { client, shop, task, set } = await device("rated");
  shop.published = ONE ?? null;
  await client.sync();
  shop.newestModel = async () => "0".repeat(64);
  await client.rate(task, itemAt(task, 0), "5");
  assert.equal((await client.sync()).stored, 1);
  await assert.rejects(client.fetchModel(task), CertificateError);
  shop.newestModel = () => assert.fail("no network");
  set(1);
  await client.rate(task, itemAt(task, 0), "4");
  assert.equal((await client.sync()).stored, 1);
  assert.equal((await client.recommend(task, 3)).length, 3);
});

test("the model of another question is not used", async () => {
  const { client, shop, task } = await device("rated");
  const other = await example("catalogue");
  shop.published = ONE ?? null;
  await client.sync();
  shop.published = null;
  assert.deepEqual(await client.recommend(other.task, 3), []);
  shop.published = ONE ?? null;
  assert.deepEqual(await client.fetchModel(other.task), listModel.fromBytes(ONE ?? assert.fail()));
  assert.deepEqual(await client.recommend(other.task, 3), bestOf(ONE));
  assert.deepEqual(await client.recommend(task, 3), bestOf(ONE));
});

test("an epsilon is per user only where what was rated is hidden", async () => {
  for (const [plan, said] of /** @type {const} */ ([
    ["rated", "for all your values together"],
    ["catalogue", "per user"],
    ["sample:3", "per user"],
  ])) {
    assert.equal(together((await example(plan)).task), said);
  }
});

test("the reference code is the pseudonym in every report", async () => {
  const { client, shop, task, set } = await device("rated");
  for (const [epoch, level] of /** @type {const} */ ([[0, "4"], [1, "1"]])) {
    set(epoch);
    await client.rate(task, itemAt(task, 2), level);
    await client.sync();
  }
  const code = await client.referenceCode(task);
  assert.match(code, /^[0-9a-f]{8}(-[0-9a-f]{8}){3}$/);
  const sent = shop.bodies.flatMap((body) => reportsOf(body).map((each) => JSON.parse(each)));
  assert.deepEqual(new Set(sent.map(({ person }) => person)), new Set([code.replaceAll("-", "")]));
});
