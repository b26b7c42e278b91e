/**
 * Devices of a shuffled task, one per line of the input: the token, the items, and the words of the
 * draws, as JSON. Arguments: the URLs of the shuffler and of the provider, and Unix seconds. Prints the
 * outcome of each. Not a test: tests/shuffler/test_provider.py runs it.
 */

import { createInterface } from "node:readline";
import { ShuffledClient } from "../../src/tacit/page/device/shuffled/client.js";
import { Memory } from "./world.js";

/** @typedef {{ token: string, items: number[], words: string[] }} Person */

const [, , shuffler = "", provider = "", now = ""] = process.argv;
const policy = { mostEpsilon: "8", honest: "1", bundles: 20 };

/** @param {Person} person */
async function answer({ token, items, words: given }) {
  const left = given.map(BigInt).values();
  const words = () => {
    const { value, done } = left.next();
    if (done) throw new Error("no word is left");
    return value;
  };
  const world = { store: new Memory(), shuffler, provider, policy, lifetime: "50", token, words };
  /** @type {<T>(work: () => Promise<T>) => Promise<T>} */
  const alone = (work) => work();
  return new ShuffledClient({ ...world, alone, clock: () => Number(now) }).sync(items);
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
