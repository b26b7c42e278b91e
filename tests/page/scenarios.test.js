/**
 * The page's device lives through the scenarios that the Python device does, to the byte.
 *
 * `tests/vectors/device_scenarios.json` states what leaves at each step, what became of it and what
 * is spent by then. `tests/device/test_scenarios.py` is the twin of this file.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { nano, nats } from "../../src/tacit/page/device/answering/ledger.js";
import { ADDRESSES, HELD, Life, QUIET, fix, lived } from "./scenario_device.js";

/**
 * What a step is to come to: the kind of a refusal, what is held, or what became of reports.
 * @param {import("./scenario_device.js").Step} step
 */
function expected(step) {
  if (step.refuses ?? step.holds) return step.refuses ?? step.holds;
  if (!["sync", "retry", "erase", "agree and sync"].includes(step.do)) return undefined;
  return { ...QUIET, ...Object.fromEntries(Object.entries(step).filter(([key]) => key in QUIET)) };
}

/** @param {{ to: string, erase?: unknown }} request */
function pathOf({ to, erase }) {
  return `/v1/tasks/${ADDRESSES.get(to)}/${erase === undefined ? "reports" : "erasures"}`;
}

for (const { name, steps, store, now } of HELD.scenarios) {
  test(name, async () => {
    fix(HELD.secrets);
    const life = new Life(now === undefined ? {} : { now });
    if (store !== undefined) await life.inherit(store);
    const bodies = (HELD.bodies[name] ?? []).values();
    for (const [number, step] of steps.entries()) {
      const at = `step ${number + 1}: `;
      assert.deepEqual([at, await lived(life, step)], [at, expected(step)]);
      const leaves = (step.sends ?? []).map((request) => [pathOf(request), bodies.next().value]);
      assert.deepEqual([at, ...life.provider.sent.splice(0)], [at, ...leaves]);
      if (step.spent) assert.equal(at + (await life.spent()), at + nats(nano(step.spent)));
    }
  });
}
