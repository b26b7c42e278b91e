/** Everything the device holds, as a file for her alone. */

import { hexadecimal } from "./hashing.js";
import { nats } from "./ledger.js";

/**
 * JSON of all rows: bytes in hexadecimal, nano-epsilon as a decimal in nats.
 * @param {import("./store.js").Rows} rows
 * @returns {string}
 */
export function exported(rows) {
  const plain = (/** @type {string} */ _key, /** @type {unknown} */ value) => {
    if (value instanceof Uint8Array) return hexadecimal(Uint8Array.from(value));
    return typeof value === "bigint" ? nats(value) : value;
  };
  return JSON.stringify({ format: "tacit-device-1", ...rows }, plain, 2);
}

/**
 * Offers text as a file.
 * @param {string} text
 * @param {string} name
 */
export function download(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
