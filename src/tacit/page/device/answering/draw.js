/** The draw: one secret random word gives one report. A device runs it for each rating. */

import { RequestError } from "../errors.js";

/** @typedef {() => bigint} Words a source of 64-bit words, uniform, independent, never reused */

/**
 * Return 64 random bits from the operating system.
 * @returns {bigint}
 */
export function secretWord() {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return new DataView(bytes.buffer).getBigUint64(0, true);
}

/**
 * Draw the symbol that leaves the device for input `row`.
 *
 * The top w bits of one word map to symbol y for exactly weights[row][y] of their 2^w values. No
 * word is rejected, every row uses the same number of bits, and the scan visits every bound.
 * Therefore neither its length nor its order depends on the rating. `words` is replaced in tests
 * only.
 * @param {import("../documents/channel.js").Channel} channel
 * @param {number} row
 * @param {Words} [words]
 * @returns {number}
 */
export function draw(channel, row, words = secretWord) {
  const bounds = channel.bounds[row];
  if (bounds === undefined) {
    throw new RequestError(`The channel has only ${channel.weights.length} input rows.`);
  }
  const word = words() >> BigInt(64 - channel.wordBits);
  let symbol = 0;
  for (const bound of bounds) symbol += Number(word >= bound);
  return symbol;
}
