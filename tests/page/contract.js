/**
 * Prints the contract that the page shows for each task on the input, base64, one a line. Not a
 * test: tests/collector/test_task_guarantee.py runs it.
 */

import { createInterface } from "node:readline";
import { address } from "../../src/tacit/page/device/documents/hashing.js";
import { loads } from "../../src/tacit/page/device/documents/task.js";
import { contractInWords } from "../../src/tacit/page/view/words/contract.js";

for await (const line of createInterface({ input: process.stdin })) {
  const document = Uint8Array.from(Buffer.from(line, "base64"));
  const task = await loads(document, await address(document));
  process.stdout.write(`${JSON.stringify(contractInWords(task, "films.example"))}\n`);
}
