/** A token is signed before a bundle is drawn, with the same bytes at every attempt, and sent once. */

import assert from "node:assert/strict";
import { constants, generateKeyPairSync, privateDecrypt } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { exported } from "../../src/tacit/page/device/export.js";
import * as blindTokens from "../../src/tacit/page/device/shuffled/blind_tokens.js";
import { loads } from "../../src/tacit/page/device/shuffled/task.js";
import { nano } from "../../src/tacit/page/device/answering/ledger.js";
import { address } from "../../src/tacit/page/device/documents/hashing.js";
import { BudgetError } from "../../src/tacit/page/device/errors.js";
import { DIRECT } from "../../src/tacit/page/device/shuffled/background.js";
import { ShuffledClient } from "../../src/tacit/page/device/shuffled/client.js";
import { BEGIN } from "../../src/tacit/page/device/shuffled/register.js";
import { OneTimeTokens } from "../../src/tacit/page/device/shuffled/tokens.js";
import { Memory } from "./world.js";

const CLOSES = 2000;
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 3072 });
const SIGNER = Buffer.from(publicKey.export({ format: "jwk" }).n ?? "", "base64url").toString("hex");
/** @type {{ tasks: { task: string, signer: string | null }[] }} */
const HELD = JSON.parse(readFileSync(new URL("../vectors/shuffled.json", import.meta.url), "utf8"));
const SIGNED = HELD.tasks.find(({ signer }) => typeof signer === "string");
const DOCUMENT = new TextEncoder().encode(
  SIGNED?.task.replace(SIGNED.signer ?? "", SIGNER) ?? assert.fail("no task has a signer"),
);
const TASK = await loads(DOCUMENT, await address(DOCUMENT));

/** A provider in a few lines; `statuses` are its next responses instead of a signature. */
class Provider {
  /** @type {string[]} */
  requests = [];
  /** @type {number[]} */
  statuses = [];

  /** @param {string} path @param {Uint8Array} body */
  async post(path, body) {
    assert.equal(path, `/v1/shuffled/${TASK.address}/signature`);
    this.requests.push(Buffer.from(body).toString("hex"));
    const status = this.statuses.shift() ?? 200;
    const key = { key: privateKey, padding: constants.RSA_NO_PADDING };
    const signed = status === 200 ? privateDecrypt(key, body) : [];
    return { status, retryAfter: 7, body: Uint8Array.from(signed) };
  }
}

test("a bundle is due after a random moment of the second quarter of the time that is left", async () => {
  const due = new Set();
  for (let k = 0; k < 10; k++) {
    const [store, provider] = [new Memory(), new Provider()];
    let now = CLOSES - 1000;
    const tokens = new OneTimeTokens(store, provider, () => now);
    assert.equal(await tokens.obtain(TASK, []), null);
    const [row] = (await store.read()).tokens;
    assert(row !== undefined && row.due >= CLOSES - 750 && row.due < CLOSES - 500);
    assert.deepEqual([row.message.length, row.inverse.length], [0, 0]);
    due.add(row.due);
    now = row.due - 1;
    assert.equal(await tokens.obtain(TASK, []), null);
    now = row.due;
    const signed = (await tokens.obtain(TASK, [])) ?? assert.fail("it is due");
    assert.equal(signed.length, blindTokens.SIGNED_BYTES);
    const [token, signature] = [signed.slice(0, 32), signed.slice(32)];
    assert(await blindTokens.isSigned(token, signature, TASK.signer ?? token));
    assert.equal(provider.requests.length, 1);
  }
  assert.equal(due.size, 10);
});

test("a request has the same bytes at every attempt, and waits after a failure", async () => {
  const [store, provider] = [new Memory(), new Provider()];
  provider.statuses = [0, 503, 409, 401];
  let now = 0;
  /** @type {string[]} */
  const notes = [];
  for (let k = 0; k < 5; k++) {
    const tokens = new OneTimeTokens(store, provider, () => now); // as after a restart
    assert.equal(await tokens.obtain(TASK, notes), null);
    const next = (await store.read()).tokens[0]?.next ?? 0;
    if (now < next) {
      await tokens.obtain(TASK, notes);
      assert.equal(provider.requests.length, k + 1); // nothing is requested before its time
      now = next;
    }
  }
  assert.equal(provider.requests.length, 5);
  assert.equal(new Set(provider.requests).size, 1);
  assert.deepEqual(notes.map((note) => note.replace(/.*\((.*)\)./, "$1")), ["status 409", "status 401"]);
});

test("a token is stored before it is sent, and is not exported", async () => {
  const [store, provider] = [new Memory(), new Provider()];
  store.crash = () => true;
  await assert.rejects(new OneTimeTokens(store, provider, () => 0).obtain(TASK, []), /power/);
  assert.deepEqual(provider.requests, []);
  store.crash = () => false;
  await new OneTimeTokens(store, provider, () => 0).obtain(TASK, []);
  const [row] = (await store.read()).tokens;
  const known = exported(await store.read());
  assert(row !== undefined && !known.includes("token") && !known.includes("signature"));
});

test("a signature of another key is refused", async () => {
  const [store, provider] = [new Memory(), new Provider()];
  const { post } = provider;
  provider.post = async (path, body) => {
    const answer = await post.call(provider, path, body);
    return { ...answer, body: answer.body.map((byte, k) => (k === 383 ? byte ^ 1 : byte)) };
  };
  const obtained = new OneTimeTokens(store, provider, () => 0).obtain(TASK, []);
  await assert.rejects(obtained, /not signed with the key of the task/);
});

test("a task without a signer requires nothing", async () => {
  const provider = new Provider();
  const tokens = new OneTimeTokens(new Memory(), provider, () => 0);
  assert.deepEqual(await tokens.obtain({ ...TASK, signer: null }, []), new Uint8Array());
  assert.deepEqual(provider.requests, []);
});

/**
 * A device between a provider and a shuffler, which accepts every bundle.
 * @param {Provider} provider
 * @param {() => number} clock
 * @param {string} lifetime
 */
function device(provider, clock, lifetime) {
  const line = JSON.stringify({ before: BEGIN, task: TASK.address, provider: TASK.provider });
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const bundles = [];
  const path = `${TASK.provider}/v1/shuffled/${TASK.address}/signature`;
  /** @type {typeof globalThis.fetch} */
  const fetch = async (url, { body, headers } = {}) => {
    const token = new Headers(headers).get("Authorization");
    if (body instanceof Uint8Array && String(url) === path) {
      assert.equal(token, "Bearer a-customer");
      const { status, body: signature } = await provider.post(path.slice(TASK.provider.length), body);
      return new Response(signature, { status });
    }
    if (body instanceof Uint8Array) {
      assert.equal(token, "Bearer a-person");
      bundles.push(new Uint8Array(body));
      return new Response("{}");
    }
    return new Response(String(url).endsWith("/register") ? `${line}\n` : DOCUMENT);
  };
  /** @type {<T>(work: () => Promise<T>) => Promise<T>} */
  const alone = (work) => work();
  const store = new Memory();
  const client = new ShuffledClient({
    ...{ store, shuffler: TASK.shuffler, provider: TASK.provider, lifetime, fetch, clock, alone },
    ...{ token: "a-person", providerToken: "a-customer", work: DIRECT },
    policy: { mostEpsilon: "8", honest: "1", bundles: 20, signed: true },
  });
  return { client, bundles, store };
}

test("a bundle is drawn and paid when it is due, and contains the token", async () => {
  const provider = new Provider();
  let now = CLOSES - 1000;
  const { client, bundles, store } = device(provider, () => now, "50");
  provider.statuses = [409];
  const refused = await client.sync([100]);
  assert.match(refused.notes.join(), /has signed another token of this customer/);
  assert.equal((await client.sync([100])).stored, 0);
  assert.deepEqual([bundles, (await client.ledger()).spent], [[], 0n]);
  now = CLOSES - 500;
  assert.equal((await client.sync([100])).stored, 1);
  assert.equal((await client.sync([100])).stored, 0);
  assert.equal((await client.ledger()).spent, nano(TASK.certificate.replaced));
  const [bundle = new Uint8Array()] = bundles;
  assert.deepEqual([bundles.length, bundle.length], [1, TASK.requestBytes]);
  const signed = bundle.slice(TASK.bundleBytes);
  const [token, signature] = [signed.slice(0, 32), signed.slice(32)];
  assert(await blindTokens.isSigned(token, signature, TASK.signer ?? token));
  assert.deepEqual([provider.requests.length, (await store.read()).tokens], [2, []]);
});

test("a task that the provider did not write is never answered", async () => {
  const provider = new Provider();
  let now = CLOSES - 1000;
  const { client, bundles } = device(provider, () => now, "50");
  for (now of [CLOSES - 1000, CLOSES - 500, CLOSES - 1]) {
    provider.statuses = [404];
    assert.match((await client.sync([100])).notes.join(), /signs no tokens for this task/);
  }
  assert.deepEqual([bundles, (await client.ledger()).spent], [[], 0n]);
});

test("no token is requested for a task that the limit does not allow", async () => {
  const provider = new Provider();
  const { client } = device(provider, () => CLOSES - 1000, "1");
  await assert.rejects(client.sync([100]), BudgetError);
  assert.deepEqual(provider.requests, []);
});
