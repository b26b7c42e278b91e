/**
 * Devices of a shuffled task, one per line of the input: the token, the items or ratings, and the words
 * of the draws, as JSON. Arguments: the URLs of the shuffler and of the provider, and Unix seconds of
 * each sync. Prints the last outcome of each device. Not a test: tests in tests/shuffler run it.
 */

import { createInterface } from "node:readline";
import { ShuffledClient } from "../../src/tacit/page/device/shuffled/client.js";
import { Memory } from "./world.js";

/** @typedef {{ token: string, items: number[] | { [item: string]: string }, words: string[],
 *   customer?: string }} Person */

const [, , shuffler = "", provider = "", ...moments] = process.argv;
const policy = { mostEpsilon: "8", honest: "1", bundles: 20 };

/** @param {Person} person */
async function answer({ token, items, words: given, customer }) {
  const left = given.map(BigInt).values();
  const words = () => {
    const { value, done } = left.next();
    if (done) throw new Error("no word is left");
    return value;
  };
  const tokens = { token, providerToken: customer ?? null };
  const world = { store: new Memory(), shuffler, provider, policy, lifetime: "50", ...tokens, words };
  /** @type {<T>(work: () => Promise<T>) => Promise<T>} */
  const alone = (work) => work();
  let now = 0;
  const client = new ShuffledClient({ ...world, alone, clock: () => now });
  let outcome = null;
  for (const moment of moments) {
    now = Number(moment);
    outcome = await client.sync(items);
  }
  return outcome;
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
