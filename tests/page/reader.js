/**
 * Reads documents as the page does, one a line of the input: its kind and its bytes in base64. Says
 * what each comes to, one a line. Not a test: tests/vectors/test_fuzz.py asks it.
 */

import { createInterface } from "node:readline";
import { address } from "../../src/tacit/page/device/documents/hashing.js";
import * as register from "../../src/tacit/page/device/shuffled/register.js";
import * as shuffledTask from "../../src/tacit/page/device/shuffled/task.js";
import { verdict, verdictOf } from "./hostile.js";

/** Of the second package. @type {{ [kind: string]: (data: Uint8Array<ArrayBuffer>) => unknown }} */
const SHUFFLED = {
  shuffled: async (data) =>
    (await shuffledTask.loads(data, await address(data))).certificate.rounds,
  register: async (data) => (await register.loads(data)).head,
};

for await (const line of createInterface({ input: process.stdin })) {
  const [kind = "", data = ""] = line.split(" ");
  const [bytes, read] = [Uint8Array.from(Buffer.from(data, "base64")), SHUFFLED[kind]];
  const said = await (read ? verdictOf(read, bytes) : verdict(kind, bytes)).catch(
    (error) => ["crash", error instanceof Error ? String(error.stack) : String(error)],
  );
  process.stdout.write(`${JSON.stringify(said)}\n`);
}
