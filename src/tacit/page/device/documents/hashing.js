/** SHA-256 and HMAC-SHA256 from the browser, over UTF-8 text. */

const UTF8 = new TextEncoder();

/** @typedef {Uint8Array<ArrayBuffer>} Bytes */

/**
 * @param {Bytes} bytes
 * @returns {string}
 */
export function hexadecimal(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Return the SHA-256 of text or bytes, in hexadecimal.
 * @param {string | Bytes} data
 * @returns {Promise<string>}
 */
export async function address(data) {
  return hexadecimal(await digest(data));
}

/**
 * Return the first 64 bits of SHA-256 of an id's text: public, and the same on every machine.
 * @param {string | number} identity
 * @returns {Promise<bigint>}
 */
export async function hashId(identity) {
  const bytes = await digest(String(identity));
  return new DataView(bytes.buffer).getBigUint64(0, true);
}

/**
 * Import the HMAC key with which a device derives its pseudonyms.
 * @param {Bytes} secret 32 random bytes
 * @returns {Promise<CryptoKey>}
 */
export function key(secret) {
  return crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

/**
 * Return the HMAC-SHA256 of `text`, 32 bytes.
 * @param {CryptoKey} secret
 * @param {string} text
 * @returns {Promise<Bytes>}
 */
export async function mac(secret, text) {
  return new Uint8Array(await crypto.subtle.sign("HMAC", secret, UTF8.encode(text)));
}

/**
 * @param {string | Bytes} data
 * @returns {Promise<Bytes>}
 */
async function digest(data) {
  const bytes = typeof data === "string" ? UTF8.encode(data) : data;
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}
