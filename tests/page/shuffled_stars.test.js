/** Signs of star ratings are those of the Python device, on every worked example, and their law is exact. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "../../src/tacit/page/device/documents/scale.js";
import { RequestError } from "../../src/tacit/page/device/errors.js";
import { completed } from "../../src/tacit/page/device/shuffled/messages/bundle.js";
import { sealedBundle } from "../../src/tacit/page/device/shuffled/messages/sealing.js";
import * as signs from "../../src/tacit/page/device/shuffled/messages/signs.js";
import { pairBucketsOf } from "../../src/tacit/page/device/shuffled/round_terms.js";
import * as shuffledTask from "../../src/tacit/page/device/shuffled/task.js";
import { address } from "../../src/tacit/page/device/documents/hashing.js";

/** @type {{ bundles: { task: string, ratings: { [item: string]: string }, words: string[],
 *   messages: number[] }[] }} */
const HELD = JSON.parse(
  readFileSync(new URL("../vectors/shuffled_stars.json", import.meta.url), "utf8"),
);
const STARS = parse("1:5:1");
const ITEMS = [100, 101, 102, 103, 104, 105, 106, 107];
const FIRST = { items: ITEMS, about: "items", round: { buckets: 28, messages: 3, dummies: 40 }, means: null };

/** A source without a word: a draw fails. */
function noWord() {
  return assert.fail("a word was drawn");
}

/** @param {readonly number[]} given */
function wordsOf(given) {
  const left = given.map(BigInt).values();
  return () => left.next().value ?? noWord();
}

test("messages from given words", async () => {
  for (const { task: text, ratings, words, messages } of HELD.bundles) {
    const task = await shuffledTask.loads(new TextEncoder().encode(text), await address(text));
    const left = words.map(BigInt).values();
    const word = () => left.next().value ?? noWord();
    const own = signs.ownItems(ratings);
    assert(task.scale !== null && signs.areRatings(own));
    assert.deepEqual(signs.signedBundle(task, task.scale, own, word), messages);
    assert.equal(left.next().done, true);
  }
});

test("the law of a sign is exact", () => {
  for (const text of ["0:1:1", "1:5:1", "0.5:5:0.5"]) {
    const scale = parse(text);
    const steps = scale.levels.length - 1;
    scale.levels.forEach((_, level) => {
      const drawn = Array.from({ length: steps }, (_, word) =>
        signs.signedItems(FIRST, scale, new Map([[5, level]]), wordsOf([0, word])),
      );
      assert.equal(drawn.filter(([bucket]) => bucket === 13).length, level);
      assert.equal(drawn.filter(([bucket]) => bucket === 5).length, steps - level);
    });
  }
});

test("items are drawn before signs", () => {
  const levels = new Map([[0, 0], [1, 1], [3, 2], [4, 3], [7, 4]]);
  const words = wordsOf([0, 1, 2, 3, 2, 1]); // the indices 0, 1 and 2, and a sign for each
  assert.deepEqual(signs.signedItems(FIRST, STARS, levels, words), [0, 1, 11]);
  assert.throws(words, /a word was drawn/);
});

/**
 * One pair at a time, in units of 10^-6.
 * @param {ReadonlyMap<number, number>} levels
 * @param {readonly number[]} means
 * @param {import("../../src/tacit/page/device/documents/scale.js").Scale} scale
 */
function naivePairs(levels, means, scale) {
  const around = [...levels].map(([item, level]) => {
    const exact = BigInt(Math.round((scale.values[level] ?? NaN) * 1e6)) - BigInt(means[item] ?? 0) * 1000n;
    return /** @type {const} */ ([item, exact]);
  });
  const buckets = new Set();
  for (const [high, one] of around)
    for (const [low, other] of around) {
      if (low >= high) continue;
      const others = around.filter(([item]) => item !== low && item !== high);
      const level = others.reduce((sum, [, each]) => sum + each, 0n);
      const count = BigInt(others.length + 5);
      const isPositive = (one * count - level) * (other * count - level) > 0n;
      buckets.add((high * (high - 1)) / 2 + low + (isPositive ? (means.length * (means.length - 1)) / 2 : 0));
    }
  return buckets;
}

test("pairs have the sign of the product of exact residuals, also on scales finer than means", () => {
  for (const [text, means] of /** @type {const} */ ([
    ["1:5:1", [3500, 1000, 2999, 3001, 4250, 5000, 3000, 2750]],
    ["-1:1:0.0625", [-1000, 62, -63, 0, 1000, 937, 500, -500]],
    ["1:2:0.00005", [1000, 2000, 1001, 1999, 1500, 1499, 1501, 1250]],
  ])) {
    const scale = parse(text);
    const task = { ...FIRST, about: "pairs", means, round: { ...FIRST.round, messages: 28 } };
    for (let profile = 0; profile < 256; profile++) {
      const mine = ITEMS.map((_, index) => index).filter((index) => profile & (1 << index));
      const levels = new Map(mine.map((item) => [item, (item * 7919 + profile * 104729) % scale.levels.length]));
      const own = signs.signedPairs(task, scale, levels, () => 0n);
      assert.deepEqual(new Set(own), naivePairs(levels, means, scale));
      assert.equal(own.length, new Set(own).size);
      assert(own.every((bucket) => bucket < pairBucketsOf(8, true) - 300));
    }
  }
});

test("at most M pairs are drawn, without a list of all pairs", () => {
  const items = Array.from({ length: 20_000 }, (_, item) => item);
  const means = items.map(() => 3000);
  const levels = new Map(items.map((item) => [item, item % 5]));
  const task = { ...FIRST, items, about: "pairs", means };
  const own = signs.signedPairs(task, STARS, levels, wordsOf([0, 1, 2]));
  const half = (20_000 * 19_999) / 2; // the pairs of the first three items, below the user's level
  assert.deepEqual(own, [half, half + 1, half + 2]);
});

test("order, spelling and other items do not matter", () => {
  const spelled = new Map(/** @type {[string | number, string | number][]} */ ([
    [102, "5"], ["101", 1], [107, "3.0"], [7000, "off the scale"], ["x", 9],
  ]));
  const levels = signs.levelsOf(FIRST, STARS, spelled);
  assert.deepEqual([...levels], [[1, 0], [2, 4], [7, 2]]);
  assert.deepEqual(signs.levelsOf(FIRST, STARS, new Map([...spelled].reverse())), levels);
});

test("a rating off the scale is refused before any draw, in a sentence without it", () => {
  for (const rating of /** @type {any[]} */ (["6", 0, "4.5", 4.1, "x", null, undefined, NaN, Infinity, "1e0", ""])) {
    const ratings = new Map([[101, 3], [103, rating]]);
    const message = "This rating is not on the scale 1:5:1.";
    assert.throws(() => signs.signedBundle(FIRST, STARS, ratings, noWord), { message });
  }
});

test("two ratings of an item are refused before any draw", () => {
  const ratings = new Map(/** @type {[string | number, number][]} */ ([[101, 3], ["101", 3]]));
  assert.throws(() => signs.signedBundle(FIRST, STARS, ratings, noWord), /contain an item twice/);
});

test("more than M buckets, or equal ones, are refused before any draw", () => {
  for (const chosen of [[1, 1], [28], [-1], [0, 1, 2, 3]])
    assert.throws(() => completed(chosen, FIRST.round, noWord), RequestError);
});

test("the kind of items is that of the task, also in the worker", async () => {
  const text = HELD.bundles[0]?.task ?? "";
  const task = await shuffledTask.loads(new TextEncoder().encode(text), await address(text));
  await assert.rejects(sealedBundle(task, [101], noWord), /pass ratings by item id/);
  const plain = { ...task, scale: null };
  await assert.rejects(sealedBundle(plain, new Map([[101, 3]]), noWord), /pass a collection of ids/);
});

test("items are a collection of ids, or ratings by item id", () => {
  const ratings = new Map([["17", "4"]]);
  assert.deepEqual(signs.ownItems({ 17: "4" }), ratings);
  assert.deepEqual(signs.ownItems(ratings), ratings);
  assert.notEqual(signs.ownItems(ratings), ratings); // of this moment
  for (const items of [[17, "x"], new Set([17, "x"]), [17, "x"].values()])
    assert.deepEqual(signs.ownItems(items), [17, "x"]);
  for (const items of /** @type {any[]} */ (["17", 17, null, undefined, Promise.resolve([17]), new Date(), () => [17]]))
    assert.throws(() => signs.ownItems(items), RequestError);
});
