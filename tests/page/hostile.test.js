/** A document of a hostile provider costs the page a sentence, and the same as it costs in Python. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { document, verdict } from "./hostile.js";

/** @typedef {import("./hostile.js").Recipe} Recipe */

/** @type {{ bases: import("./hostile.js").Bases, refused: Recipe[], unsaid: Recipe[],
 *   taken: Recipe[] }} */
const { bases, refused, unsaid, taken } = JSON.parse(
  readFileSync(new URL("../vectors/hostile.json", import.meta.url), "utf8"),
);

/** @param {Recipe} recipe */
function read(recipe) {
  return verdict(recipe.kind, document(recipe, bases));
}

test("every one is refused with a sentence", async () => {
  for (const recipe of refused) {
    const [said] = await read(recipe);
    assert(said === "DataError" || said === "CertificateError", JSON.stringify(recipe));
  }
});

test("what says nothing gives nothing up", async () => {
  for (const recipe of unsaid) assert.deepEqual(await read(recipe), ["holds", null], recipe.why);
});

test("what is well-formed is taken", async () => {
  for (const recipe of taken) assert.equal((await read(recipe))[0], "holds", JSON.stringify(recipe));
});
