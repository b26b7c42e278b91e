/** Requests to a collector whose connection breaks while its response is read. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { Collector } from "../../src/tacit/page/device/sending/collector.js";
import { TacitError } from "../../src/tacit/page/device/errors.js";

const TASK = "a".repeat(64);

const server = createServer((_request, response) => {
  response.writeHead(200, { "Content-Length": 100 });
  response.write("half", () => response.destroy());
});
/** @type {Collector} */
let collector;

before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  collector = new Collector({ origin: `http://127.0.0.1:${address.port}` });
});
after(() => server.close());

/** @type {[string, () => Promise<unknown>][]} */
const documents = [
  ["first task", () => collector.firstTask()],
  ["task", () => collector.task(TASK)],
  ["newest model", () => collector.newestModel(TASK)],
  ["model", () => collector.model(TASK)],
];
for (const [name, fetched] of documents)
  test(`a connection that breaks within the ${name} is an error of the collector`, async () => {
    await assert.rejects(
      fetched,
      (error) => error instanceof TacitError && /cannot be reached/.test(error.message),
    );
  });

test("an upload whose response is cut has no status", async () => {
  assert.equal((await collector.send(TASK, "{}", null)).status, 0);
});
