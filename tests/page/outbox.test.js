/** Sending: within the collector's bounds, at random moments, and what each answer means. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { pause, send, uploads } from "../../src/tacit/page/outbox.js";
import { LONGEST_UPLOAD, MOST_REPORTS, upload } from "../../src/tacit/page/report.js";

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
    [409, ["why"], "refused", false],
    [422, ["why"], "refused", false],
    [422, null, "kept", false],
    ...[400, 401, 403, 404, 413, 415].map((status) => [status, null, "kept", false]),
    ...[408, 429, 431, 503, 500, 502, 0].map((status) => [status, null, "kept", true]),
  ]);
  for (const [status, refused, fate, again] of meaning) {
    const collector = { send: async () => ({ status, detail: "why", refused, retryAfter: 7 }) };
    const sent = await send([row(0)], /** @type {never} */ (collector), null);
    assert.equal(sent[/** @type {"kept"} */ (fate)].length, 1, `${status}`);
    assert.equal(sent.again, again, `${status}`);
    assert.equal(sent.complaints.length, status === 200 || again ? 0 : 1);
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
