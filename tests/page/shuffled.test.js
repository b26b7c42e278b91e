/** The browser's device of shuffled tasks says what the Python device says, on every worked example. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { address, hexadecimal } from "../../src/tacit/page/device/documents/hashing.js";
import { RequestError, TacitError } from "../../src/tacit/page/device/errors.js";
import {
  drawBundle,
  drawPairBundle,
  ownIndices,
  pairBucket,
  sampled,
  sampledPairs,
} from "../../src/tacit/page/device/shuffled/messages/bundle.js";
import { devices, shuffledDelta } from "../../src/tacit/page/device/shuffled/certificate.js";
import * as register from "../../src/tacit/page/device/shuffled/register.js";
import { seal, sealedBundle, sealWith } from "../../src/tacit/page/device/shuffled/messages/sealing.js";
import * as shuffledTask from "../../src/tacit/page/device/shuffled/task.js";
import { chance } from "./world.js";

/** @typedef {import("../../src/tacit/page/device/shuffled/certificate.js").ShuffledRound} Round */

/** @type {{ tasks: { task: string, address: string, verdict: string, round: Round,
 *     announced: Round | null, bundle_bytes: number, key: string, items: (string | number)[],
 *     devices: number, about: string, first: string | null, closes: number,
 *     request_bytes: number, signer: string | null }[],
 *   announced: { first: string, task: string, announced: boolean }[],
 *   registers: { register: string, before: string, verdict: string, head: string, open: object,
 *     closed: { [task: string]: [number, string | null] }, released: object }[],
 *   deltas: { rounds: Round[], devices: number, epsilon: number, neighbour: "replaced" | "empty",
 *     delta: number }[],
 *   bundles: { own: number[], round: Round, words: string[], messages: number[] }[],
 *   sealed: { public: string, address: string, messages: number[],
 *     ephemeral: [string, string][], sealed: string } }} */
const HELD = JSON.parse(readFileSync(new URL("../vectors/shuffled.json", import.meta.url), "utf8"));
/** @type {Pick<typeof HELD, "tasks" | "announced">} */
const STARS = JSON.parse(
  readFileSync(new URL("../vectors/shuffled_stars.json", import.meta.url), "utf8"),
);

/** @param {string} text */
function bytes(text) {
  return new TextEncoder().encode(text);
}

/** @param {string} hex */
function raw(hex) {
  return Uint8Array.from(Buffer.from(hex, "hex"));
}

/** @param {string} hex */
function base64url(hex) {
  const plain = Buffer.from(hex, "hex").toString("base64");
  return plain.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * What reading comes to: "holds", or the kind of an error of our own.
 * @param {Promise<unknown>} reading
 */
async function verdict(reading) {
  try {
    await reading;
  } catch (error) {
    if (error instanceof TacitError && error.message.endsWith(".")) return error.constructor.name;
    throw error;
  }
  return "holds";
}

test("tasks, good and forged", async () => {
  for (const { task, address: found, verdict: wanted, ...fields } of [...HELD.tasks, ...STARS.tasks]) {
    assert.equal(await verdict(shuffledTask.loads(bytes(task), found)), wanted, task);
    if (wanted !== "holds") continue;
    const read = await shuffledTask.loads(bytes(task), found);
    const { round, announced, items, about, first, closes } = read;
    const signer = read.signer && hexadecimal(read.signer);
    const lengths = { bundle_bytes: read.bundleBytes, request_bytes: read.requestBytes };
    const rest = { ...lengths, key: hexadecimal(read.key), signer };
    const honest = devices(read.certificate);
    const told = { round, announced, ...rest, items, devices: honest, about, first, closes };
    assert.deepEqual(told, fields);
    const { scale = null, means = null } = JSON.parse(task);
    assert.deepEqual([read.scale && read.scale.text, read.means], [scale, means]);
  }
});

test("a task whose format is a name that every object has", async () => {
  const document = `{"format":"constructor"}`;
  assert.equal(await verdict(shuffledTask.loads(bytes(document), await address(document))), "DataError");
});

test("a task of another address", async () => {
  const document = bytes(HELD.tasks[0]?.task ?? "");
  await assert.rejects(shuffledTask.loads(document, "0".repeat(64)), /changed in transit/);
});

test("rounds that a first task has announced", async () => {
  const read = async (/** @type {string} */ text) =>
    shuffledTask.loads(bytes(text), await address(text));
  for (const { first, task, announced } of [...HELD.announced, ...STARS.announced])
    assert.equal(shuffledTask.isAnnouncedBy(await read(task), await read(first)), announced, task);
});

test("registers, good and forged", async () => {
  for (const { register: text, before, verdict: wanted, ...fields } of HELD.registers) {
    assert.equal(await verdict(register.loads(bytes(text), before)), wanted, text);
    if (wanted !== "holds") continue;
    const { head, open, closed, released } = await register.loads(bytes(text), before);
    const told = [...closed].map(([task, { bundles, batch }]) => [task, [bundles, batch]]);
    const [opened, last] = [Object.fromEntries(open), Object.fromEntries(released)];
    assert.deepEqual({ head, open: opened, closed: Object.fromEntries(told), released: last }, fields);
  }
});

test("a register begins with a digest of its name", async () => {
  assert.equal(register.BEGIN, await address("tacit-register-1"));
});

test("bounds on delta", () => {
  for (const { rounds, devices: honest, epsilon, neighbour, delta } of HELD.deltas) {
    const bound = shuffledDelta(rounds, honest, epsilon, neighbour);
    assert(Math.abs(bound - delta) <= 1e-8 * delta, `${bound} is not ${delta}`);
  }
});

test("messages from given words", () => {
  for (const { own, round, words, messages } of HELD.bundles) {
    const left = words.map(BigInt).values();
    const word = () => left.next().value ?? assert.fail("no word is left");
    assert.deepEqual(drawBundle(own, round, word), messages);
    assert.equal(left.next().done, true);
  }
});

test("own items in the order of the task, and buckets of pairs", () => {
  assert.deepEqual(ownIndices({ items: [100, 101, 102, 103, 104] }, ["104", 100, 7, 102, 100]), [0, 2, 4]);
  assert.deepEqual([pairBucket(0, 0), pairBucket(1, 0), pairBucket(0, 2)], [0, 1, 3]);
  const bare = { buckets: 15, messages: 3, dummies: 0 };
  assert.deepEqual(drawPairBundle([0, 2, 4], bare).sort((a, b) => a - b), [3, 10, 12]);
});

test("pairs are drawn with the words and the results of a list of all pairs", () => {
  const random = chance(3);
  for (let size = 0; size < 12; size++) {
    const items = Array.from({ length: size }, (_, k) => 3 * k + 1);
    const all = items.flatMap((later, at) => items.slice(0, at).map((other) => [later, other]));
    for (const most of [1, 2, 7, 70]) {
      const words = Array.from({ length: 70 }, () => BigInt(Math.floor(2 ** 53 * random())));
      const [left, again] = [words.values(), words.values()];
      const word = () => left.next().value ?? assert.fail("no word is left");
      const pairs = sampledPairs(items, most, word);
      assert.deepEqual(pairs, sampled(all, most, () => again.next().value ?? 0n));
      assert.deepEqual([...left], [...again]);
    }
  }
});

test("the first and the last pair of each later item have their indices", () => {
  const length = 2 ** 24; // more items than a task has, of which two are read
  /** @type {number[]} */
  const items = new Proxy([], { get: (_, name) => (name === "length" ? length : Number(name)) });
  for (const at of [1, 2, 3, 1000, 2 ** 20 + 1, 2 ** 23, 2 ** 24 - 1]) {
    for (const other of [0, at - 1]) {
      const index = BigInt(at) * BigInt(at - 1) / 2n + BigInt(other);
      assert.deepEqual(sampledPairs(items, 1, () => index), [[at, other]]);
    }
  }
});

test("a bundle about pairs takes no more memory with 30,000 own items", async () => {
  const { key, address: task } = await shuffledTask.loads(
    bytes(HELD.tasks[0]?.task ?? ""),
    HELD.tasks[0]?.address ?? "",
  );
  const items = Array.from({ length: 30_000 }, (_, item) => item);
  const round = { buckets: (30_000 * 30_001) / 2, messages: 3, dummies: 4 };
  const rest = { ...{ about: "pairs", round, key, address: task }, ...{ scale: null, means: null } };
  const sealed = await sealedBundle(/** @type {any} */ ({ items, ...rest }), items);
  assert.equal(sealed.length, 7 * shuffledTask.SEALED_BYTES);
});

test("buckets that are equal or unknown", () => {
  const round = { buckets: 21, messages: 4, dummies: 6 };
  for (const own of [[1, 1], [21], [-1]]) assert.throws(() => drawBundle(own, round), RequestError);
  for (const own of [[1, 1], [1, 6], [-1, 0]])
    assert.throws(() => drawPairBundle(own, round), RequestError);
});

test("sealed messages with given ephemeral keys", async () => {
  const { public: recipient, address: task, messages, ephemeral, sealed } = HELD.sealed;
  const left = ephemeral.values();
  const next = async () => {
    const [secret, open] = left.next().value ?? assert.fail("no key is left");
    const [d, x] = [secret, open].map(base64url);
    const [curve, own, uses] = [{ name: "X25519" }, { kty: "OKP", crv: "X25519" }, ["deriveBits"]];
    const pair = [{ ...own, d: d ?? "", x: x ?? "" }, { ...own, x: x ?? "" }];
    const [privateKey, publicKey] = await Promise.all(
      pair.map((jwk, k) =>
        crypto.subtle.importKey("jwk", jwk, curve, true, k === 0 ? /** @type {["deriveBits"]} */ (uses) : []),
      ),
    );
    if (privateKey === undefined || publicKey === undefined) assert.fail();
    return { privateKey, publicKey };
  };
  assert.equal(hexadecimal(await sealWith(next, messages, raw(recipient), task)), sealed);
  assert.equal(sealed.length, 2 * messages.length * shuffledTask.SEALED_BYTES);
});

test("sealing is randomized, and refuses other keys", async () => {
  const { public: recipient, address: task } = HELD.sealed;
  const messages = Array.from({ length: 100 }, (_, k) => k % 2);
  const sealed = await seal(messages, raw(recipient), task);
  const each = messages.map((_, k) => hexadecimal(sealed.slice(k * shuffledTask.SEALED_BYTES, (k + 1) * shuffledTask.SEALED_BYTES)));
  assert.equal(new Set(each).size, messages.length);
  await assert.rejects(seal(messages, raw(recipient.slice(2)), task), /got 31 bytes/);
});
