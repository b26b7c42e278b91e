/**
 * Reads documents as the page does, one a line of the input: its kind and its bytes in base64. Says
 * what each comes to, one a line. Not a test: tests/vectors/test_fuzz.py asks it.
 */

import { createInterface } from "node:readline";
import { verdict } from "./hostile.js";

for await (const line of createInterface({ input: process.stdin })) {
  const [kind = "", data = ""] = line.split(" ");
  const said = await verdict(kind, Uint8Array.from(Buffer.from(data, "base64"))).catch(
    (error) => ["crash", error instanceof Error ? String(error.stack) : String(error)],
  );
  process.stdout.write(`${JSON.stringify(said)}\n`);
}
