/** Ratings of an earlier question, copied to a new one: the same items only, and nothing is sent. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { address } from "../../src/tacit/page/device/documents/hashing.js";
import * as wireTask from "../../src/tacit/page/device/documents/task.js";
import { device, example } from "./world.js";

/** @param {{ readonly [key: string]: unknown }} changes of the worked example of rated */
async function changed(changes) {
  const { document } = await example("rated");
  const fields = { ...JSON.parse(new TextDecoder().decode(document)), ...changes };
  const bytes = new TextEncoder().encode(JSON.stringify(fields));
  return wireTask.loads(bytes, await address(bytes));
}

/** @param {import("../../src/tacit/page/device/client.js").Client} client
 *  @param {import("../../src/tacit/page/device/documents/task.js").Task} task */
async function ratings(client, task) {
  const { levels } = await client.history(task);
  return Object.fromEntries([...levels].map(([place, level]) => [String(task.items[place]), level]));
}

test("items that both tasks list under the same title are copied, and no rating is replaced", async () => {
  const before = await changed({ items: [1, 2, 3, 4, 5, 6], titles: ["a", "b", "c", "d", "e", "f"] });
  const now = await changed({ items: [9, 6, 5, 4, 3, 1], titles: ["a", "f", "E", "d", "c", "a"] });
  const { client, shop, store } = await device("rated");
  for (const [item, level] of [[1, "5"], [2, "4"], [3, "3"], [4, "2"], [5, "1"]])
    await client.rate(before, item ?? 0, level ?? null);
  await client.rate(now, 3, "1");
  assert.equal(await client.copyRatings(now, before), 2);
  assert.deepEqual(await ratings(client, now), { 1: "5", 3: "1", 4: "2" });
  assert.equal((await store.read()).ratings.length, 8);
  assert.equal(await client.copyRatings(now, before), 0);
  assert.deepEqual(shop.posts, []);
});

test("ratings of the same question, and of another scale, are refused", async () => {
  const { client, task } = await device("rated");
  await assert.rejects(client.copyRatings(task, task), /must be of an earlier task/);
  const marks = await example("extendable");
  const other = /** @type {typeof task} */ ({ ...marks.task, scale: { ...task.scale, text: "1:7:1" } });
  await assert.rejects(client.copyRatings(task, other), /scale 1:7:1.*scale 1:5:1; rate its items/);
});
