/** What the page says before a person agrees: what is due, and what the noise of a choice is worth. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { countDue } from "../../src/tacit/page/device/answering/due.js";
import { UNRATED } from "../../src/tacit/page/device/documents/channel.js";
import { fatesOf } from "../../src/tacit/page/view/fate.js";
import { middleOf, surest } from "../../src/tacit/page/view/consent/choices.js";
import { sharesOf } from "../../src/tacit/page/view/consent/noise.js";
import {
  agreeInWords,
  contractInWords,
  enoughInWords,
  offerInWords,
} from "../../src/tacit/page/view/words/contract.js";
import { budgetInWords } from "../../src/tacit/page/view/words/sent.js";
import { chance, device, example, itemAt } from "./world.js";

for (const plan of ["rated", "catalogue", "sample:3"]) {
  test(`${plan}: as many answers are due as a sync gives, and then none`, async () => {
    const random = chance(7);
    const { client, store, shop, task, set } = await device(plan, { lifetime: "1000" });
    assert.equal(await countDue(task, await store.read(), -1), 0);
    for (let epoch = 0; epoch < 12; epoch++) {
      set(epoch);
      const place = Math.floor(random() * task.items.length);
      const level = random() < 0.3 ? null : String(1 + Math.floor(5 * random()));
      await client.rate(task, itemAt(task, place), level);
      const due = await countDue(task, await store.read(), epoch);
      const before = shop.reports.size;
      await client.sync();
      const sent = [...shop.reports.values()].slice(before).flatMap(({ cells }) => cells);
      assert.equal(due, sent.length);
      const rows = await store.read();
      assert.equal(await countDue(task, rows, epoch), 0);
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

test("by block: as many answers are due as a sync gives, and on average before consent", async () => {
  const { client, store, shop, task, set } = await device("extendable", { lifetime: "100" });
  const nobody = { ...(await store.read()), owner: [] };
  assert.deepEqual(
    await Promise.all([-1, 0, 27, 28].map((epoch) => countDue(task, nobody, epoch))),
    [0, 3, 3, 5],
  );
  let drawn = 0;
  for (const epoch of [0, 3, 10, 11, 17, 28, 40]) {
    set(epoch);
    const due = await countDue(task, await store.read(), epoch);
    await client.sync();
    const cells = [...shop.reports.values()].flatMap((report) => report.cells).length;
    assert.equal(due, cells - drawn);
    drawn = cells;
    assert.equal(await countDue(task, await store.read(), epoch), 0);
  }
  const { ledger, blocks } = await store.read();
  assert.equal(blocks.length, drawn);
  assert.equal(ledger[0]?.spent, 27_000_000_000n); // 9 items in 3 generations, whatever was drawn
});

/** A device that was queried about an item of the first block: one in 64 is not, by its secret. */
async function queried() {
  for (;;) {
    const each = await device("extendable", { lifetime: "100" });
    await each.client.sync();
    if ((await each.store.read()).blocks.length > 0) return each;
  }
}

test("by block: a changed rating says that the answer stands, until a renewal if one comes", async () => {
  const { client, store, task, set } = await queried();
  const place = (await store.read()).blocks[0]?.place ?? assert.fail();
  await client.rate(task, itemAt(task, place), "4");
  const told = async (/** @type {number} */ epoch) =>
    fatesOf(task, await store.read(), epoch).get(place)?.text;
  assert.match((await told(0)) ?? "", /“not rated” remains until you send this one, which you can from/);
  assert.match((await told(10)) ?? "", /“not rated” remains until you send this one\.$/);
  set(17);
  await client.sync();
  assert.equal(await told(17), "sent");
  await client.rate(task, itemAt(task, place), "1");
  assert.equal(await told(17), "Changed: your answer for 4 stars remains.");
  await client.rate(task, itemAt(task, 6), "1");
  assert.equal(fatesOf(task, await store.read(), 17).get(6)?.text, "not sent yet");
});

test("by block: the terms say what is added, how much is paid, and that answers stand", async () => {
  const { task } = await example("extendable");
  const terms = new Map(contractInWords(task, "films.example"));
  assert.match(terms.get("Who asks") ?? "", /items can be added .* Nothing else can change\. Items were added 1 time/);
  const what = terms.get("What") ?? "";
  assert.match(what, /each of a share of the items, rated or not\. A secret rule of this device selects them and does not use your ratings\./);
  assert.match(what, /each is answered once, for what you rated by then, and the answer never changes/);
  assert.match(what, /answered once more on 2 later dates, the first on 11 January 1970\./);
  assert.match(what, /at most 9 items, then it stops\. You pay for 27 answers before the first one, and for none later/);
  assert.doesNotMatch(terms.get("Public") ?? "", /changed|between two reports/);
  assert.match(offerInWords(task, 3), /sends about 3 answers, later others on added items, and at most 27 in all\./);
  assert.equal(agreeInWords(task, 3), "Agree and send about 3 answers");
  assert.equal(enoughInWords(task, 20, 27), "Enough for 20 answers; this question takes 27.");
  assert.match(budgetInWords(task, "1", "23", 23), /are paid for, those on items added later too\. 23 is left\.$/);
});

test("the terms say that the provider can move, and from where it came", async () => {
  const { task } = await example("extendable");
  const [first = ""] = task.origins;
  const keyed = { ...task, providerKey: "key" };
  const who = (/** @type {import("../../src/tacit/page/device/documents/task.js").Task} */ one) =>
    new Map(contractInWords(one, "films.example")).get("Who asks") ?? "";
  assert.doesNotMatch(who(task), /move/);
  assert.match(who(keyed), /The provider can move\. Nothing is sent to another address before you agree\.$/);
  const moved = { ...keyed, origins: [first, "https://next.example"] };
  assert.ok(who(moved).includes(`The provider moved here from ${first} and can move again.`));
});
