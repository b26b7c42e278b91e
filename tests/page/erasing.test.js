/** One question in two formats is answered once; what was told is asked to be erased until it is. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CertificateError } from "../../src/tacit/page/device/errors.js";
import { address } from "../../src/tacit/page/device/documents/hashing.js";
import { nano } from "../../src/tacit/page/device/answering/ledger.js";
import { device, example, itemAt, successor } from "./world.js";

/** @param {import("./world.js").Shop} shop */
function people(shop) {
  return [...new Set([...shop.reports.values()].map(({ person }) => person))].sort();
}

/**
 * The names that a collector would erase for what it was asked.
 * @param {import("./world.js").Shop} shop
 */
async function names(shop) {
  const found = shop.erased.map(async ({ key }) => {
    assert.match(key, /^[0-9a-f]{64}$/);
    return (await address(Uint8Array.from(Buffer.from(key, "hex")))).slice(0, 32);
  });
  return (await Promise.all(found)).sort();
}

/** A device that was asked in the format that names its provider, and answered. */
async function told() {
  const world = await device("rated");
  const now = await successor(world.shop.document);
  world.shop.document = now.document;
  await world.client.accept(now.task, { mostEpsilon: "1", lifetime: "100" });
  await world.client.rate(now.task, itemAt(now.task, 0), "4");
  assert.equal((await world.client.sync()).stored, 1);
  return { ...world, task: now.task };
}

for (const plan of ["rated", "catalogue", "sample:3"]) {
  for (const order of [[0, 1], [1, 0], [0, 1, 0, 1]]) {
    test(`${plan}: the other format is no new question, in the order ${order}`, async () => {
      const { client, store, shop, set } = await device(plan);
      const old = await example(plan);
      const formats = [old, await successor(old.document)];
      for (const [epoch, turn] of order.entries()) {
        set(epoch);
        const { document, task } = formats[turn] ?? assert.fail();
        shop.document = document;
        assert.equal(await client.updateTask(task), true);
        if (epoch === 0) await client.rate(task, itemAt(task, 2), "4");
        await client.sync();
      }
      const cost = await paid(store);
      set(order.length);
      const { task } = formats[order.at(-1) ?? 0] ?? assert.fail();
      await client.rate(task, itemAt(task, 2), "5");
      await client.sync();
      assert((await paid(store)) - cost <= nano("1"));
      assert.equal(people(shop).length, 1);
      const asked = order[0] === 1 ? 1 : 0;
      assert.equal((await client.erase()).erased, asked);
      assert.deepEqual(await names(shop), asked ? people(shop) : []);
    });
  }
}

/** @param {import("./world.js").Memory} store */
async function paid(store) {
  return (await store.read()).ledger[0]?.spent ?? 0n;
}

test("a task of another provider is refused before any draw", async () => {
  const { client, shop, store } = await device("rated");
  const { document, task } = await successor(shop.document, "https://films.example:8443");
  shop.document = document;
  const refused = /is https:\/\/films.example:8443, but the task was received from https:\/\/films.example,/;
  const terms = { mostEpsilon: "1", lifetime: "9" };
  await assert.rejects(client.accept(task, terms), CertificateError);
  await assert.rejects(client.updateTask(task), refused);
  const { owner } = await store.read();
  const swapped = owner.map((one) => ({ ...one, task: task.address }));
  await store.commit({ put: { owner: swapped } });
  await assert.rejects(client.sync(), refused);
  assert.deepEqual([await paid(store), shop.bodies], [0n, []]);
});

test("another question is another consent", async () => {
  const { client } = await device("rated");
  const other = await example("catalogue");
  assert.equal(await client.updateTask(other.task), false);
});

test("what waits goes where the question is asked now, or else where it was before", async () => {
  const { client, shop, task, set } = await device("rated");
  const now = await successor(shop.document);
  for (const [epoch, gone, wanted] of /** @type {const} */ ([
    [1, task.address, [now.task.address]],
    [3, now.task.address, [now.task.address, task.address]],
  ])) {
    set(epoch);
    await client.rate(task, itemAt(task, epoch), "4");
    shop.outcome = () => ({ status: 503 });
    await client.sync();
    shop.outcome = () => null;
    assert(await client.updateTask(now.task));
    shop.document = now.document;
    shop.gone = new Set([gone]);
    shop.posts = [];
    set(epoch + 1);
    assert.equal((await client.resend()).stored, 1);
    assert.deepEqual(shop.posts, wanted);
  }
});

test("the key of every name that was reported under is sent, and the secret is gone", async () => {
  const { client, store, shop, task } = await told();
  await client.register("their-leave-to-send");
  const outcome = await client.erase();
  assert.deepEqual([outcome.erased, outcome.erasing], [1, 0]);
  assert.deepEqual(await names(shop), people(shop));
  assert.deepEqual(
    shop.erased.map((one) => [one.task, one.token]),
    [[task.address, "their-leave-to-send"]],
  );
  const { ledger, ...rest } = await store.read();
  assert(Object.values(rest).every((rows) => rows.length === 0));
  assert.equal(ledger[0]?.spent, nano("1"));
});

for (const status of [0, 400, 401, 404, 429, 500, 503]) {
  test(`${status}: what is not acknowledged is asked again, also after a reload`, async () => {
    const { client, store, shop, set, reload } = await told();
    await client.register("their-leave-to-send");
    shop.outcome = () => ({ status });
    const { erasing, again, notes } = await client.erase();
    assert.equal(erasing, 1);
    assert.equal(notes.length, again === null ? 1 : 0);
    set(1);
    assert.equal((await reload().resend()).erasing, 1);
    shop.outcome = () => null;
    set(2);
    assert.equal((await reload().resend()).erasing, 0);
    assert.deepEqual(await names(shop), people(shop));
    assert.equal(shop.erased[0]?.token, "their-leave-to-send");
    assert.equal((await store.read()).erasures.length, 0);
  });
}

test("erasing is no way around a pause", async () => {
  const { client, store, shop, task } = await told();
  await client.rate(task, itemAt(task, 1), "4");
  shop.outcome = () => ({ status: 503, retryAfter: 600 });
  const { again } = await client.sync();
  const bodies = shop.bodies.length;
  shop.outcome = () => null;
  const erased = await client.erase();
  assert.deepEqual([erased.erased, erased.erasing], [0, 1]);
  assert.equal(erased.again, again ?? assert.fail());
  assert.deepEqual([shop.bodies.length, shop.erased.length], [bodies, 0]);
  assert.equal((await store.read()).pause.length, 1);
});

test("a forged task does not keep an erasure from being asked for", async () => {
  const { client, shop, task } = await told();
  shop.outcome = () => ({ status: 401 });
  await client.erase();
  await client.accept(task, { mostEpsilon: "1", lifetime: "100" });
  shop.outcome = () => null;
  shop.document = Uint8Array.from([...shop.document, 32]);
  await assert.rejects(client.sync(), CertificateError);
  assert.equal(shop.erased.length, 1);
});

test("a second erasing keeps what the first one has to ask, and the export shows no key", async () => {
  const { client, store, shop, task } = await told();
  shop.outcome = () => ({ status: 401 });
  await client.erase();
  const text = await client.export();
  const [{ key } = assert.fail()] = (await store.read()).erasures;
  assert(!text.includes(key));
  await client.accept(task, { mostEpsilon: "1", lifetime: "100" });
  await client.rate(task, itemAt(task, 0), "4");
  shop.outcome = (body) => (body.includes('"reports"') ? null : { status: 401 });
  await client.sync();
  assert.equal((await client.erase()).erasing, 2);
  shop.outcome = () => null;
  assert.equal((await client.resend()).erasing, 0);
  assert.deepEqual(await names(shop), people(shop));
  assert.equal(people(shop).length, 2);
});

test("keys are kept before the secret is gone, or neither", async () => {
  const { client, store } = await told();
  const before = await store.read();
  store.crash = () => true;
  await assert.rejects(client.erase(), /the power is out/);
  store.crash = () => false;
  assert.deepEqual(await store.read(), before);
});
