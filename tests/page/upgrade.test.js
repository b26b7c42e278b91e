/**
 * A store that an older page left goes on where it was; `stores` has some, as they were.
 *
 * Three ratings told and acknowledged, then one of them changed and two new ones, answered while the
 * collector was away, and not all of them within the limit.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "../../src/tacit/page/device/client.js";
import { address } from "../../src/tacit/page/device/documents/hashing.js";
import * as wireTask from "../../src/tacit/page/device/documents/task.js";
import { Memory, Shop, former, itemAt, successor } from "./world.js";

const SPENT = /** @type {const} */ ({ rated: 5n, catalogue: 7n, sample: 4n });
const AWAY_UNTIL = 87_430;
const DAY = 86_400;
const REPORT = /,(?=\{"id")/;

/** @typedef {"rated" | "catalogue" | "sample"} Plan */

/**
 * The device of today on a store of before, a moment before it may call again.
 * @param {Plan} plan
 */
async function left(plan) {
  const held = former(plan);
  const store = new Memory();
  await store.commit({ put: held.rows });
  const rows = await store.read();
  const document = new TextEncoder().encode(held.task);
  const shop = new Shop(document);
  for (const one of held.acknowledged) shop.reports.set(JSON.parse(one).id, JSON.parse(one));
  const before = await wireTask.loads(document, await address(document));
  let time = AWAY_UNTIL - 1;
  const drawn = { count: 0, allowed: false };
  const words = () => {
    assert(drawn.allowed, "an answer is drawn a second time");
    drawn.count += 1;
    return 0n;
  };
  /** @type {<T>(work: () => Promise<T>) => Promise<T>} */
  const alone = (work) => work();
  const client = new Client({ store, collector: shop, clock: () => time, alone, words });
  const waiting = held.rows.outbox.map((/** @type {{ bytes: string }} */ row) => row.bytes);
  const now = await successor(document);
  const set = (/** @type {number} */ moment) => (time = moment);
  return { client, store, shop, before, now, set, drawn, waiting, rows };
}

/** @param {Memory} store */
async function spent(store) {
  return (await store.read()).ledger[0]?.spent;
}

for (const plan of /** @type {const} */ (["rated", "catalogue", "sample"])) {
  for (const format of ["before", "now"]) {
    test(`${plan}, asked as ${format}: what waited is sent to the byte, nothing is drawn`, async () => {
      const { client, store, shop, before, now, set, waiting, rows } = await left(plan);
      if (format === "now") {
        shop.document = now.document;
        shop.gone.add(before.address);
      }
      const task = format === "now" ? now.task : before;
      assert(await client.updateTask(task));
      assert.equal((await client.sync()).stored, 0); // what the collector asked for still holds
      assert.equal(shop.bodies.length, 0);
      set(AWAY_UNTIL);
      assert.equal((await client.sync()).stored, waiting.length);
      const sent = shop.bodies.flatMap((body) => body.slice(12, -2).split(REPORT));
      assert.deepEqual(sent.sort(), waiting.sort());
      assert.deepEqual([...new Set(shop.posts)], [task.address]);
      assert.equal(await spent(store), SPENT[plan] * 1_000_000_000n);
      const { ratings, answers } = await store.read();
      assert.deepEqual([ratings, answers], [rows.ratings, rows.answers]);
    });
  }

  test(`${plan}: another rating goes under the same name and costs itself alone`, async () => {
    const { client, store, shop, now, set, drawn } = await left(plan);
    shop.document = now.document;
    await client.updateTask(now.task);
    await client.accept(now.task, { mostEpsilon: "1", lifetime: "100" });
    drawn.allowed = true;
    set(AWAY_UNTIL + 2 * DAY);
    await client.sync();
    const first = drawn.count;
    assert.equal(await spent(store), (SPENT[plan] + BigInt(first)) * 1_000_000_000n);
    set(AWAY_UNTIL + 3 * DAY);
    await client.rate(now.task, itemAt(now.task, 0), "4"); // answered in epoch 0
    assert.equal((await client.sync()).stored, 1);
    assert.equal(drawn.count, first);
    assert.equal(new Set([...shop.reports.values()].map(({ person }) => person)).size, 1);
    const { erased, erasing } = await client.erase();
    assert.equal(erased + erasing, 0); // names of the old format have no key
  });
}
