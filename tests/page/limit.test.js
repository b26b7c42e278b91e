/** The lifetime limit in the consent form, after earlier reports have spent a part of it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { affords, nano } from "../../src/tacit/page/device/answering/ledger.js";
import { cellsOf } from "../../src/tacit/page/device/answering/due.js";
import { enough, modestLimit } from "../../src/tacit/page/view/consent/limit.js";
import { device, itemAt } from "./world.js";

test("a limit is enough for as many answers as a device then sends", async () => {
  const { client, store, shop, task } = await device("rated", { lifetime: "2" });
  const answered = async (/** @type {string} */ lifetime) => {
    const spent = (await store.read()).ledger[0]?.spent ?? 0n;
    const text = enough(task, "1", lifetime, spent);
    await client.accept(task, { mostEpsilon: "1", lifetime });
    for (let place = 0; place < 4; place++) await client.rate(task, itemAt(task, place), "3");
    const before = shop.reports.size;
    await client.sync();
    const sent = shop.reports.size - before;
    assert.match(text, new RegExp(`^Enough for ${sent} answer`));
    await client.erase();
    return sent;
  };
  const sent = [];
  for (const limit of ["2", "2", "1", "3", "3.5", "6.5"]) sent.push(await answered(limit));
  assert.deepEqual(sent, [2, 0, 0, 1, 0, 3]);
});

test("a first report is stated if what is left does not afford it", async () => {
  const { task } = await device("catalogue");
  const cells = cellsOf(task);
  const text = (/** @type {bigint} */ spent) => enough(task, "1", String(cells), spent);
  assert.doesNotMatch(text(0n), /a first report takes/);
  assert.match(text(1n), new RegExp(`^Enough for ${cells - 1} .*a first report takes ${cells}\\.`));
});

for (const [plan, reports] of /** @type {const} */ ([["rated", 100], ["catalogue", 2]])) {
  test(`${plan}: the suggested limit is in addition to what is spent`, async () => {
    const { task } = await device(plan);
    const cost = BigInt(reports) * (plan === "rated" ? 1n : BigInt(cellsOf(task))) * nano("1");
    for (const spent of [0n, 1n, nano("20"), nano("0.25")]) {
      const limit = nano(modestLimit(task, "1", spent));
      assert.equal(limit, spent + cost);
      assert.ok(affords({ limit, spent }, cost));
    }
  });
}
