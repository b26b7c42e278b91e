/** Sending: within the collector's bounds, at random moments, and what each answer means. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { PROVIDER } from "./world.js";
import { Collector } from "../../src/tacit/page/device/sending/collector.js";
import { pause, send, uploads } from "../../src/tacit/page/device/sending/outbox.js";
import { LONGEST_UPLOAD, MOST_REPORTS, upload } from "../../src/tacit/page/device/documents/report.js";

/**
 * @param {number} place
 * @param {{ task?: string, epoch?: number, length?: number }} [how]
 */
function row(place, { task = "a", epoch = 0, length = 10 } = {}) {
  return {
    task,
    epoch,
    place,
    id: String(place),
    bytes: "x".repeat(length),
    single: true,
    until: 0,
  };
}

test("uploads are ordered, to one task each, and within both bounds", () => {
  const rows = Array.from({ length: 450 }, (_, k) => row((k * 7) % 450, { epoch: k % 2 }));
  const mixed = [
    ...rows,
    row(0, { task: "b" }),
    ...[1, 2, 3, 4].map((k) => row(k, { task: "c", length: 100_000 })),
  ];
  const found = uploads(mixed);
  assert.equal(found.flat().length, mixed.length);
  for (const part of found) {
    assert(part.length <= MOST_REPORTS);
    assert(upload(part.map(({ bytes }) => bytes)).length <= LONGEST_UPLOAD);
    assert.equal(new Set(part.map(({ task }) => task)).size, 1);
  }
  const first = found.flat().filter(({ task }) => task === "a");
  const order = first.map(({ epoch, place }) => 1000 * epoch + place);
  assert.deepEqual(
    order,
    [...order].sort((a, b) => a - b),
  );
});

test("an upload may be as long as the bound and no longer", () => {
  const frame = upload([]).length;
  const half = (LONGEST_UPLOAD - frame - 1) / 2;
  const rows = [row(0, { length: Math.floor(half) }), row(1, { length: Math.ceil(half) })];
  assert.equal(uploads(rows).length, 1);
  assert.equal(uploads([...rows.slice(1), row(0, { length: Math.floor(half) + 1 })]).length, 2);
});

test("what each answer means", async () => {
  const meaning = /** @type {const} */ ([
    [200, null, "stored", false],
    [409, [{ id: "0", problem: "conflict", detail: "why" }], "refused", false],
    [422, [{ id: "0", problem: "epoch", detail: "why" }], "refused", false],
    [422, [{ id: "another", problem: "epoch", detail: "why" }], "stored", false],
    [422, null, "kept", false],
    ...[300, 301, 400, 401, 403, 404, 405, 413, 415].map((status) => [status, null, "kept", false]),
    ...[408, 429, 431, 503, 500, 502, 599, 0].map((status) => [status, null, "kept", true]),
  ]);
  for (const [status, refused, fate, later] of meaning) {
    const collector = { send: async () => ({ status, detail: "why", refused, retryAfter: 7 }) };
    const sent = await send([row(0)], ["a"], /** @type {never} */ (collector), null);
    assert.equal(sent[/** @type {"kept"} */ (fate)].length, 1, `${status}`);
    assert.equal(sent.later, later, `${status}`);
    assert.equal(sent.notes.length, fate === "stored" || later ? 0 : 1);
  }
});

test("a pause is at least what was asked, grows to two hours, and is spread", () => {
  for (const [attempt, most] of [
    [0, 60],
    [1, 120],
    [5, 1920],
    [7, 7200],
    [50, 7200],
  ]) {
    assert.equal(
      pause(attempt ?? 0, 9, () => 0),
      9,
    );
    assert.equal(
      pause(attempt ?? 0, 9, () => 1),
      9 + (most ?? 0),
    );
  }
  const drawn = Array.from({ length: 200 }, () => pause(0, 0));
  assert(Math.min(...drawn) < 15 && Math.max(...drawn) > 45);
});

test("a refused report is due again, unless its slot was answered for", async () => {
  const refused = ["conflict", "epoch", "cells"].map((problem, k) => ({
    ...{ id: String(k), problem, detail: "why" },
  }));
  const collector = { send: async () => ({ status: 422, detail: "", refused, retryAfter: 0 }) };
  const rows = [0, 1, 2, 3].map((place) => row(place));
  const sent = await send(rows, ["a"], /** @type {never} */ (collector), null);
  /** @param {readonly { place: number }[]} found */
  const places = (found) => found.map(({ place }) => place);
  assert.deepEqual(
    [sent.stored, sent.refused, sent.due, sent.kept].map(places),
    [[3], [0, 1, 2], [1, 2], []],
  );
});

/**
 * What an upload comes to when the collector answers so.
 * @param {Response} response
 */
async function outcome(response) {
  return new Collector({ origin: PROVIDER, fetch: async () => response }).send("a", "{}", null);
}

test("a Retry-After is a whole number of seconds, believed up to a day", async () => {
  for (const [told, wanted] of /** @type {const} */ ([
    ["5", 5],
    ["999999999", 86_400],
    ["-5", 0],
    ["1e3", 0],
    ["7.5", 0],
    ["Infinity", 0],
    ["soon", 0],
    ["9".repeat(5000), 0],
  ])) {
    const answer = new Response("{}", { status: 503, headers: { "Retry-After": told } });
    assert.equal((await outcome(answer)).retryAfter, wanted, told);
  }
});

test("a refusal that does not say which reports it means gives none up", async () => {
  for (const refused of [3, [3], [null], [{ problem: "epoch" }], {}]) {
    const answer = new Response(JSON.stringify({ refused }), { status: 422 });
    assert.equal((await outcome(answer)).refused, null);
  }
  const entry = { id: "0", problem: "epoch", detail: "why" };
  const answer = new Response(JSON.stringify({ refused: [entry] }), { status: 422 });
  assert.deepEqual((await outcome(answer)).refused, [entry]);
});

test("a redirect is a wrong request, not a collector that is away", async () => {
  const hidden = /** @type {Response} */ ({ type: "opaqueredirect", status: 0 });
  assert.equal((await outcome(hidden)).status, 300);
});
