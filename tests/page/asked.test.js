/** What the page says before a person agrees: what is due, and what the noise of a choice is worth. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { countDue } from "../../src/tacit/page/device/answering/due.js";
import { UNRATED } from "../../src/tacit/page/device/documents/channel.js";
import { fatesOf } from "../../src/tacit/page/view/fate.js";
import { middleOf, surest } from "../../src/tacit/page/view/choices.js";
import { sharesOf } from "../../src/tacit/page/view/noise.js";
import { chance, device, example, itemAt } from "./world.js";

globalThis.document = /** @type {Document} */ (
  /** @type {unknown} */ ({ documentElement: { lang: "en-GB" } })
);

for (const plan of ["rated", "catalogue", "sample:3"]) {
  test(`${plan}: as many answers are due as a sync gives, and then none`, async () => {
    const random = chance(7);
    const { client, store, shop, task, set } = await device(plan, { lifetime: "1000" });
    assert.equal(countDue(task, await store.read(), -1), 0);
    for (let epoch = 0; epoch < 12; epoch++) {
      set(epoch);
      const place = Math.floor(random() * task.items.length);
      const level = random() < 0.3 ? null : String(1 + Math.floor(5 * random()));
      await client.rate(task, itemAt(task, place), level);
      const due = countDue(task, await store.read(), epoch);
      const before = shop.reports.size;
      await client.sync();
      const sent = [...shop.reports.values()].slice(before).flatMap(({ cells }) => cells);
      assert.equal(due, sent.length);
      const rows = await store.read();
      assert.equal(countDue(task, rows, epoch), 0);
      const fates = [...fatesOf(task, rows, epoch).values()];
      assert.ok(fates.every(({ kind, text }) => kind !== "changed" || text.startsWith("Cleared")));
    }
  });
}

test("a changed rating says that the old answer stands, and from when another may go", async () => {
  const { client, store, task } = await device("rated");
  const said = async (/** @type {number} */ epoch) =>
    fatesOf(task, await store.read(), epoch).get(2)?.text;
  await client.rate(task, itemAt(task, 2), "4");
  assert.equal(await said(0), "not sent yet");
  await client.sync();
  assert.equal(await said(0), "sent");
  await client.rate(task, itemAt(task, 2), "1");
  assert.match((await said(0)) ?? "", /^Changed: your answer for 4 stars remains until .* from \d/);
  assert.equal(await said(1), "Changed: your answer for 4 stars remains until you send this one.");
  await client.rate(task, itemAt(task, 2), "4");
  assert.equal(await said(0), "sent");
  await client.rate(task, itemAt(task, 2), null);
  assert.match((await said(0)) ?? "", /^Cleared: your answer for 4 stars remains until \d.*erase\.$/);
});

test("no symbol of a table lets a guess between two values be right more often than is said", async () => {
  for (const plan of ["rated", "catalogue"]) {
    const { task } = await example(plan);
    for (const { weights, epsilon } of task.channels) {
      const guesses = weights.flatMap((one) =>
        weights.flatMap((other) =>
          one.map((weight, symbol) => Number(weight) / Number(weight + (other[symbol] ?? 0n))),
        ),
      );
      const most = Math.max(...guesses);
      assert.ok(most <= surest(epsilon) + 1e-12); // floats on both sides
      assert.ok(most > surest(epsilon) - 0.01, "and what is said is not far above");
    }
  }
});

test("the picture shows every draw once, where it comes nearest", async () => {
  for (const plan of ["rated", "catalogue"]) {
    const { task } = await example(plan);
    for (const channel of task.channels) {
      const values = channel.missing ? [UNRATED, ...channel.levels] : channel.levels;
      for (const [row, value] of values.entries()) {
        const shares = sharesOf(channel, value);
        assert.deepEqual([...shares.keys()], values);
        const sum = [...shares.values()].reduce((total, share) => total + share, 0);
        assert.ok(Math.abs(sum - 1) < 1e-12);
        const nearest = channel.outputs.map((output) =>
          output === null ? UNRATED : String(Math.min(5, Math.max(1, Math.round(Number(output))))),
        );
        const own = channel.weights[row]?.filter((_, symbol) => nearest[symbol] === value) ?? [];
        const expected = own.reduce((total, weight) => total + Number(weight), 0);
        assert.ok(Math.abs((shares.get(value) ?? NaN) - expected / 2 ** channel.wordBits) < 1e-12);
      }
    }
  }
});

test("the middle choice is made already; of two in the middle that with more noise", async () => {
  const { task } = await example("rated");
  const one = (/** @type {string[]} */ ...offered) =>
    middleOf({
      channels: offered.flatMap((epsilon) =>
        task.channels.slice(0, 1).map((channel) => ({ ...channel, epsilon })),
      ),
    });
  assert.equal(one("1"), "1");
  assert.equal(one("10", "9"), "9");
  assert.equal(one("4", "1", "2", "2"), "2");
  assert.equal(one("0.5", "1", "2", "4"), "1");
});
