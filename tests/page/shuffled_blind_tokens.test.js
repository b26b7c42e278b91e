/** The browser's device blinds and verifies tokens as the Python device does, and as RFC 9474. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { hexadecimal } from "../../src/tacit/page/device/documents/hashing.js";
import * as blindTokens from "../../src/tacit/page/device/shuffled/blind_tokens.js";

/** @type {{ blinded: { modulus: string, token: string, salt: string, factor: string,
 *     message: string, inverse: string }[],
 *   signatures: { modulus: string, token: string, signature: string, valid: boolean }[],
 *   unblinding: { modulus: string, inverse: string, token: string, blind: string,
 *     signature: string } }} */
const HELD = JSON.parse(
  readFileSync(new URL("../vectors/blind_tokens.json", import.meta.url), "utf8"),
);

/** @param {string} hex */
function raw(hex) {
  return Uint8Array.from(Buffer.from(hex, "hex"));
}

test("tokens that are blinded with given salts and factors", async () => {
  for (const { modulus, token, salt, factor, message, inverse } of HELD.blinded) {
    const made = await blindTokens.blind(raw(token), raw(modulus), raw(salt), BigInt(`0x${factor}`));
    assert.deepEqual([hexadecimal(made.message), hexadecimal(made.inverse)], [message, inverse]);
  }
});

test("signatures, blind, valid and forged", async () => {
  for (const { modulus, token, signature, valid } of HELD.signatures)
    assert.equal(await blindTokens.isSigned(raw(token), raw(signature), raw(modulus)), valid);
  const { modulus, inverse, token, blind, signature } = HELD.unblinding;
  const made = await blindTokens.unblinded(raw(token), raw(modulus), raw(blind), raw(inverse));
  assert.equal(hexadecimal(made), signature);
  const wrong = blindTokens.unblinded(raw(token), raw(modulus), raw(signature), raw(inverse));
  await assert.rejects(wrong, /not signed with the key of the task/);
});

test("blinding is randomized, and refuses keys with small factors", async () => {
  const { modulus = "" } = HELD.blinded[1] ?? {};
  const messages = new Set();
  for (let k = 0; k < 5; k++) {
    const made = await blindTokens.blinded(raw("00".repeat(32)), raw(modulus));
    messages.add(hexadecimal(made.message));
  }
  assert.equal(messages.size, 5);
  const third = (BigInt(`0x${modulus}`) / 6n) * 6n + 3n; // odd, and a multiple of 3
  const weak = raw(third.toString(16));
  const blind = blindTokens.blind(raw("00".repeat(32)), weak, raw("00".repeat(48)), 3n);
  await assert.rejects(blind, /small factors/);
});

test("keys of the form of a signer's", () => {
  const { modulus = "" } = HELD.blinded[1] ?? {};
  assert(blindTokens.isModulus(raw(modulus)));
  for (const other of [`7f${modulus.slice(2)}`, `${modulus.slice(0, -2)}02`, modulus.slice(2), ""])
    assert(!blindTokens.isModulus(raw(other)));
});
