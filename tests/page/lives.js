/**
 * Lives as the page does, one life a line of the input: secrets, words and steps. Says what each step
 * comes to, what it sends and what is spent by then. Not a test: tests/device/test_scenarios.py asks
 * it.
 */

import { createInterface } from "node:readline";
import { Life, fix, lived } from "./scenario_device.js";

for await (const line of createInterface({ input: process.stdin })) {
  const [secrets, words, steps] = JSON.parse(line);
  fix(secrets);
  const life = new Life({ words });
  const told = [];
  for (const step of steps) {
    const came = (await lived(life, step)) ?? null;
    told.push([came, life.provider.sent.splice(0), await life.spent()]);
  }
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
