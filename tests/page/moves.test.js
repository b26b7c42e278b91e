/** Moves of a provider: the signatures and tasks in `vectors/moves.json`, as in Python. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { loads } from "../../src/tacit/page/device/documents/task.js";
import { isSigned, isSuccessor } from "../../src/tacit/page/device/sending/moves.js";

const read = readFileSync(new URL("../vectors/moves.json", import.meta.url), "utf-8");
const { origins, signatures, tasks } = JSON.parse(read);

test("origins that a provider can move to", () => {
  for (const [origin, wanted] of origins) assert.equal(isSuccessor(origin), wanted, origin);
});

test("signatures and forgeries of each kind", async () => {
  for (const { message, signature, key, holds } of signatures)
    assert.equal(await isSigned(message, signature, key), holds, `${message} ${signature}`);
});

test("tasks that were moved, and forged moves", async () => {
  for (const { task, address, verdict, ...wanted } of tasks) {
    const found = loads(new TextEncoder().encode(task), address);
    if (verdict !== "holds") {
      await assert.rejects(found, (error) => error?.constructor.name === verdict, task);
      continue;
    }
    const { provider, question, root, ancestors, chain, origins, providerKey: key } = await found;
    assert.deepEqual({ provider, question, root, ancestors, chain, origins, key }, wanted);
  }
});
