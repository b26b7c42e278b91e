/** Requests to a collector whose connection breaks, or that takes too long, while it responds. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, mock, test } from "node:test";
import { Collector } from "../../src/tacit/page/device/sending/collector.js";
import { TacitError } from "../../src/tacit/page/device/errors.js";
import { Shuffler } from "../../src/tacit/page/device/shuffled/shuffler.js";

const TASK = "a".repeat(64);

/** What the server does after half of a body. @type {(response: import("node:http").ServerResponse) => unknown} */
let halfway = (response) => response.destroy();
const server = createServer((request, response) => {
  if (request.url?.startsWith("/silent")) return void halfway(response);
  response.writeHead(200, { "Content-Length": 100 });
  response.write("half", () => halfway(response));
});
/** @type {Collector} */
let collector;
/** @type {string} */
let origin;

before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  origin = `http://127.0.0.1:${address.port}`;
  collector = new Collector({ origin });
});
after(() => {
  server.close();
  server.closeAllConnections();
});

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

/** Requests, and seconds within which each must be complete. @type {[string, number, (at: string) => Promise<unknown>][]} */
const requests = [
  ["first task", 120, (place) => new Collector({ origin, place }).firstTask()],
  ["task", 120, (place) => new Collector({ origin, place }).task(TASK)],
  ["newest model", 120, (place) => new Collector({ origin, place }).newestModel(TASK)],
  ["model", 3600, (place) => new Collector({ origin, place }).model(TASK)],
  ["upload", 120, (place) => new Collector({ origin, place }).send(TASK, "{}", null)],
  ["erasure", 120, (place) => new Collector({ origin, place }).erase({ task: TASK, key: "", token: null })],
  ["download from a shuffler", 120, (place) => new Shuffler(place).get("/v1/register", 100)],
  ["upload to a shuffler", 120, (place) => new Shuffler(place).post("/v1/ready", new Uint8Array())],
];
for (const [name, seconds, request] of requests)
  for (const silence of ["", "/silent"])
    test(`${name}: a server that stops${silence ? " before it responds" : ""} is not waited for`, async () => {
      const deadline = new AbortController();
      const timeout = mock.method(AbortSignal, "timeout", () => deadline.signal);
      const { halfway: before } = { halfway };
      halfway = () => deadline.abort(new DOMException("late", "TimeoutError"));
      try {
        const outcome = await request(origin + silence).catch((error) => {
          assert(error instanceof TacitError && /cannot be reached/.test(error.message));
          return { status: 0 };
        });
        assert.equal(/** @type {{ status: number }} */ (outcome).status, 0);
        assert.deepEqual(timeout.mock.calls.map((call) => call.arguments), [[1000 * seconds]]);
      } finally {
        timeout.mock.restore();
        halfway = before;
      }
    });
