/** The browser's device says what the Python device says, on every worked example. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { generation } from "../../src/tacit/page/device/documents/catalogue.js";
import { expLower } from "../../src/tacit/page/device/documents/certificate.js";
import { ofJson } from "../../src/tacit/page/device/documents/channel.js";
import { decimal, shortest } from "../../src/tacit/page/device/documents/decimals.js";
import { draw } from "../../src/tacit/page/device/answering/draw.js";
import { erfc } from "../../src/tacit/page/device/recommending/erfc.js";
import { CertificateError, DataError, TacitError } from "../../src/tacit/page/device/errors.js";
import { address, hashId, hexadecimal, key } from "../../src/tacit/page/device/documents/hashing.js";
import { fromBytes } from "../../src/tacit/page/device/documents/item_model.js";
import * as listModel from "../../src/tacit/page/device/documents/list_model.js";
import { nano, nats } from "../../src/tacit/page/device/answering/ledger.js";
import { fetchModel } from "../../src/tacit/page/device/recommending/published_model.js";
import { isOrigin } from "../../src/tacit/page/device/documents/origin.js";
import { ListProfile } from "../../src/tacit/page/device/recommending/list_profile.js";
import { posterior } from "../../src/tacit/page/device/recommending/posterior.js";
import { Profile } from "../../src/tacit/page/device/recommending/profile.js";
import { recommend } from "../../src/tacit/page/device/recommending/recommend.js";
import { blockKey, blockReportId, erasureKey, person, reportId } from "../../src/tacit/page/device/answering/pseudonym.js";
import { dumps, upload } from "../../src/tacit/page/device/documents/report.js";
import { asked, hashesOf, places as placesOf } from "../../src/tacit/page/device/answering/schedule.js";
import { parseCanonical } from "../../src/tacit/page/device/documents/strict.js";
import * as wireTask from "../../src/tacit/page/device/documents/task.js";

/** @typedef {{ verdict: string, sentence?: string }} Verdict */

/**
 * Throws as Python did, with its sentence, or does not throw.
 * @param {() => unknown} read
 * @param {Verdict} said
 */
function refusesAlike(read, { verdict, sentence }) {
  if (verdict === "holds") return read();
  return assert.throws(read, (/** @type {unknown} */ error) => {
    assert(error instanceof TacitError);
    assert.deepEqual([error.constructor.name, error.message], [verdict, sentence]);
    return true;
  });
}

/** @param {string} name */
function vectors(name) {
  return JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), "utf8"));
}

/** @param {string} text */
function bytes(text) {
  return new TextEncoder().encode(text);
}

/**
 * @param {string} text
 * @returns {Promise<import("../../src/tacit/page/device/documents/channel.js").Channel>}
 */
async function channelOf(text) {
  return ofJson(parseCanonical(text, "The channel"));
}

/**
 * Refuses or holds as Python did; a certificate's sentence to the letter.
 * @param {Promise<unknown>} reading
 * @param {Verdict} said
 */
async function agree(reading, { verdict, sentence }) {
  if (verdict === "holds") return reading;
  return assert.rejects(reading, (error) => {
    assert(error instanceof TacitError);
    assert.equal(error.constructor.name, verdict, error.message);
    if (verdict === "CertificateError")
      assert.equal(error.message.replace("id null", "id None"), sentence);
    return true;
  });
}

/**
 * @param {readonly number[]} found
 * @param {readonly number[]} wanted
 */
function close(found, wanted) {
  assert.equal(found.length, wanted.length);
  found.forEach((value, k) =>
    assert(Math.abs(value - (wanted[k] ?? NaN)) <= 1e-9, `${value} is not ${wanted[k]}`),
  );
}

test("numbers", async () => {
  const { shortest: plain, nano: nanos, hash_id, erfc: tail, exp_lower } = vectors("numbers");
  for (const [text, wanted] of plain) {
    assert.equal(shortest(decimal(text) ?? assert.fail(text)), wanted);
  }
  for (const [epsilon, whole, back] of nanos) {
    assert.equal(String(nano(epsilon)), whole);
    assert.equal(nats(BigInt(whole)), back);
  }
  for (const [id, wanted] of hash_id) assert.equal(String(await hashId(id)), wanted);
  for (const [x, wanted] of tail) {
    assert(Math.abs(erfc(x) - wanted) <= 1e-13 * wanted, `erfc(${x}) is ${erfc(x)}, not ${wanted}`);
  }
  for (const [epsilon, wanted] of exp_lower) {
    const { units, places } = decimal(epsilon) ?? assert.fail(epsilon);
    const ratio = expLower({ numerator: units, denominator: 10n ** BigInt(places) });
    assert.equal(String((ratio.numerator * 10n ** 40n) / ratio.denominator), wanted);
  }
});

test("channels, good and forged", async () => {
  for (const { channel, ...said } of vectors("channels")) await agree(channelOf(channel), said);
});

test("draws from given words", async () => {
  for (const { channel, rows } of vectors("draws")) {
    const read = await channelOf(channel);
    assert.equal(rows.length, read.weights.length);
    for (const [row, { words, symbols }] of rows.entries()) {
      const drawn = words.map((/** @type {string} */ word) => draw(read, row, () => BigInt(word)));
      assert.deepEqual(drawn, symbols);
    }
  }
});

test("posteriors", async () => {
  for (const { channel, shares } of vectors("posteriors")) {
    const read = await channelOf(channel);
    for (const [symbol, wanted] of shares.entries()) close(posterior(read, symbol), wanted);
  }
});

test("tasks, good and forged", async () => {
  for (const { task, address, ...said } of vectors("tasks")) {
    const read = wireTask.loads(bytes(task), address);
    await agree(read, said);
    if (said.verdict === "holds") await agreeOnTask(await read, said);
  }
});

test("a task of another address", async () => {
  const [{ task }] = vectors("tasks");
  await assert.rejects(wireTask.loads(bytes(task), "0".repeat(64)), /changed in transit/);
});

test("origins, in their one spelling", () => {
  for (const [text, wanted] of vectors("origins")) assert.equal(isOrigin(text), wanted, text);
});

/**
 * @param {import("../../src/tacit/page/device/documents/task.js").Task} task
 * @param {{ provider: string | null, question: string, uncovered?: string[], root?: string,
 *   ancestors?: string[], items?: (string | number)[], titles?: string[] | null,
 *   epochs: [number, number][],
 *   chosen: { [most: string]: string },
 *   growth?: { limit: number, renewals: number[], blocks: [number, number, string, number][],
 *     generations: [number, number][] },
 *   people: { secret: string, person: string, ids?: [number, number | null, string][],
 *     asked?: number[], key?: string,
 *     blocks?: { key: string, places: number[], ids: string[] }[] }[] }} said
 */
async function agreeOnTask(task, { provider, question, uncovered = [], ...said }) {
  const { epochs, chosen, people, root, ancestors, items, titles, growth } = said;
  agreeOnGrowth(task, growth);
  assert.equal(task.root, root ?? task.address);
  assert.deepEqual(task.ancestors, ancestors ?? (provider === null ? [] : [question]));
  if (items !== undefined) assert.deepEqual([task.items, task.titles], [items, titles]);
  assert.deepEqual([task.provider, task.question], [provider, question]);
  assert.deepEqual(task.uncovered, uncovered);
  for (const [now, epoch] of epochs) assert.equal(wireTask.epoch(task, now), epoch);
  for (const [most, wanted] of Object.entries(chosen)) {
    if (/^[0-9a-f]{64}$/.test(wanted)) assert.equal(wireTask.choose(task, most).id, wanted);
    else assert.throws(() => wireTask.choose(task, most), { message: wanted });
  }
  for (const { secret, person: wanted, ids = [], asked: places, key: erasing, blocks = [] } of people) {
    const own = await key(Uint8Array.from(Buffer.from(secret, "hex")));
    const me = await person(own, task.root, provider);
    assert.equal(erasing === undefined, provider === null);
    if (provider !== null)
      assert.equal(hexadecimal(await erasureKey(own, task.root, provider)), erasing);
    assert.equal(me, wanted);
    for (const [epoch, place, id] of ids)
      assert.equal(await reportId(own, task.root, epoch, place, provider), id);
    if (places !== undefined) assert.deepEqual(await asked(task, me), places);
    for (const [number, block] of blocks.entries()) {
      const [address = "", host = ""] = [task.chain[number], provider ?? ""];
      const mine = await blockKey(own, host, address);
      const { [number]: terms } = task.growth?.blocks ?? assert.fail();
      assert.equal(mine, block.key);
      const queried = await placesOf(terms ?? assert.fail(), mine, await hashesOf(task.items));
      assert.deepEqual(queried, block.places);
      for (const [now, id] of block.ids.entries())
        assert.equal(await blockReportId(own, host, task.root, address, now), id);
    }
  }
}

/**
 * @param {import("../../src/tacit/page/device/documents/task.js").Task} task
 * @param {{ limit: number, renewals: number[], blocks: [number, number, string, number][],
 *   generations: [number, number][] }} [said]
 */
function agreeOnGrowth({ growth, chain }, said) {
  assert.equal(growth === null, said === undefined);
  if (growth === null || said === undefined) return;
  const blocks = growth.blocks.map((one) => [one.first, one.end, String(one.threshold), one.openFrom]);
  const { limit, renewals } = growth;
  const { generations, ...terms } = said;
  assert.deepEqual({ limit, renewals, blocks }, terms);
  assert.equal(chain.length, blocks.length);
  for (const [epoch, wanted] of generations) assert.equal(generation(growth, epoch), wanted);
}

test("reports, to the byte", async () => {
  for (const { channel, symbols, report, block, upload: body } of vectors("reports")) {
    const read = await channelOf(channel);
    const names = { id: "ab".repeat(16), mech: read.id, epoch: 17, person: "0f".repeat(16) };
    const said = { ...names, places: [0, 11, 4095], symbols };
    const text = dumps({ ...said, key: null }, read);
    assert.equal(text, report);
    assert.equal(dumps({ ...said, key: "c4".repeat(16) }, read), block);
    assert.equal(upload([text, text]), body);
  }
});

test("profiles, to 1e-9", () => {
  for (const example of vectors("profiles")) {
    const { model, ratings, rows, predictions, recommended, by_rating: byRating } = example;
    const read = fromBytes(Uint8Array.from(Buffer.from(model, "base64")));
    const profile = new Profile(read, new Map(ratings));
    for (const [draw, row] of profile.rows.entries()) close(row, rows[draw]);
    for (const [item, wanted] of predictions) close([profile.predict(item)], [wanted]);
    const best = profile.recommend(recommended.length);
    sameList(best, recommended);
    sameList(profile.recommend(byRating.length, "rating"), byRating);
    const listed = listModel.fromBytes(Uint8Array.from(Buffer.from(example.list_model, "base64")));
    const own = ratings.map((/** @type {unknown[]} */ pair) => pair[0]);
    const liked = new ListProfile(listed, own);
    /** @type {Map<number, string>} */
    const levels = new Map();
    for (const [, level] of ratings) levels.set(levels.size, String(level));
    assert.deepEqual(recommend({ items: own }, read, levels, best.length), best);
    assert.deepEqual(recommend({ items: own }, listed, levels, 20), liked.recommend(20));
    assert.deepEqual(recommend({ items: own }, null, levels, 20), []);
  }
});

/**
 * @param {{ item: string | number, score: number }[]} best
 * @param {[string | number, number][]} wanted
 */
function sameList(best, wanted) {
  assert.deepEqual(
    best.map((one) => one.item),
    wanted.map(([item]) => item),
  );
  close(
    best.map((one) => one.score),
    wanted.map(([, score]) => score),
  );
}

test("profiles of which a model knows no item", () => {
  for (const { model, list_model: listed, own, ...said } of vectors("unknown")) {
    const items = fromBytes(Uint8Array.from(Buffer.from(model, "base64")));
    const lists = listModel.fromBytes(Uint8Array.from(Buffer.from(listed, "base64")));
    const ratings = new Map(own.map((/** @type {string | number} */ item) => [item, 3]));
    refusesAlike(() => new Profile(items, ratings), said.profile);
    refusesAlike(() => new ListProfile(lists, own), said.list);
    /** @type {Map<number, string>} */
    const levels = new Map([...ratings.keys()].map((_, place) => [place, "3"]));
    const asked = { items: [...ratings.keys()] };
    refusesAlike(() => recommend(asked, items, levels, 5), said.profile);
  }
});

test("lists, to the last digit", () => {
  for (const { model, profiles } of vectors("lists")) {
    const read = listModel.fromBytes(Uint8Array.from(Buffer.from(model, "base64")));
    for (const { own, scores, recommended } of profiles) {
      const profile = new ListProfile(read, own);
      assert.equal(profile.scores.length, scores.length);
      profile.scores.forEach((score, k) => assert(score === scores[k], `${score}, ${scores[k]}`));
      const best = profile.recommend(20);
      assert.deepEqual(
        best.map((one) => [one.item, one.score + 0]), // no zero has a sign
        recommended.map((/** @type {[unknown, number]} */ [item, score]) => [item, score + 0]),
      );
      assert.deepEqual(profile.recommend(2), best.slice(0, 2));
    }
  }
});

test("places of more than 65,536 items take four bytes, and a list model has its own most", () => {
  const n = 65_537;
  const items = JSON.stringify(Array.from({ length: n }, (_, item) => item));
  const promise = '{"epsilon":null,"unit":"none","trust":"everybody","released":"all"}';
  const header = bytes(`{"items":${items},"factors":0,"neighbours":1,"guarantee":${promise}}`);
  const length = new Uint8Array(Uint32Array.of(header.length).buffer);
  const places = new Uint8Array(Uint32Array.from({ length: n }, () => n - 1).buffer);
  const weights = new Uint8Array(Uint16Array.from({ length: n }, () => 0x3c00).buffer);
  const parts = [bytes("tacit-list-model-1\n"), length, header, new Uint8Array(4 * n), places];
  const whole = Uint8Array.from(Buffer.concat([...parts, weights]));
  const best = new ListProfile(listModel.fromBytes(whole), [0, 7]).recommend(2);
  assert.deepEqual(best, [
    { item: n - 1, score: 2 },
    { item: 1, score: 0 },
  ]);
  const vast = new Uint8Array(listModel.MOST_BYTES + 1);
  vast.set(whole);
  assert.throws(() => listModel.fromBytes(vast), /is larger than 33554432/);
});

test("the guarantee of a list model may have an epsilon against an empty profile", () => {
  const promise = { epsilon: "1", unit: "user", trust: "shuffler", released: "all", empty: "0.7" };
  const model = (/** @type {object} */ guarantee) => {
    const header = bytes(JSON.stringify({ items: [5], factors: 0, neighbours: 0, guarantee }));
    const length = new Uint8Array(Uint32Array.of(header.length).buffer);
    const rest = new Uint8Array(4); // the popularity of the item
    const parts = [bytes("tacit-list-model-1\n"), length, header, rest];
    return Uint8Array.from(Buffer.concat(parts));
  };
  assert.deepEqual(listModel.fromBytes(model(promise)).items, [5]);
  assert.throws(() => listModel.fromBytes(model({ ...promise, empty: 0.7 })), DataError);
});

test("a model that is fetched is the one of its address, and for the task's scale", async () => {
  const [{ model }] = vectors("profiles");
  const data = Uint8Array.from(Buffer.from(model, "base64"));
  const newest = await address(data);
  /** @param {Uint8Array} sent @param {string} scale */
  const fetched = (sent, scale) => {
    const collector = { newestModel: async () => newest, model: async () => sent };
    const task = { address: "a", scale: { text: scale } };
    return fetchModel(/** @type {never} */ (collector), /** @type {never} */ (task));
  };
  const { scale, items } = fromBytes(data);
  assert.deepEqual((await fetched(data, scale.text))?.items, items);
  const changed = data.map((byte, at) => (at === data.length - 1 ? byte ^ 1 : byte));
  await assert.rejects(fetched(changed, scale.text), CertificateError);
  await assert.rejects(fetched(data, "0:9:1"), DataError);
});

test("a list model is for every scale", async () => {
  const [{ model }] = vectors("lists");
  const data = Uint8Array.from(Buffer.from(model, "base64"));
  const newest = await address(data);
  const collector = { newestModel: async () => newest, model: async () => data };
  const task = { address: "a", scale: { text: "there" } };
  const fetched = await fetchModel(/** @type {never} */ (collector), /** @type {never} */ (task));
  assert.deepEqual(fetched, listModel.fromBytes(data));
});

test("a model that was cut, or is none, is refused", () => {
  const [{ model }] = vectors("profiles");
  const whole = Uint8Array.from(Buffer.from(model, "base64"));
  for (const left of [whole.length - 4, whole.length - 1, 200, 20]) {
    assert.throws(() => fromBytes(whole.slice(0, left)), /truncated/);
  }
  assert.throws(() => fromBytes(bytes("{}")), /not a valid item model/);
  const empty = bytes("tacit-item-model-1\n\x02\0\0\0{}");
  assert.throws(() => fromBytes(empty), /unknown or missing keys: scale/);
  for (const more of [[0], [0, 0, 0, 0]]) {
    assert.throws(() => fromBytes(Uint8Array.from([...whole, ...more])), /longer than its header declares/);
  }
});
