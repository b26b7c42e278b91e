/**
 * A document of numbers: a magic line, the length of a header, a JSON header and a block.
 *
 * Sizes in untrusted headers are compared with the bytes received before anything is allocated.
 */

import { DataError } from "../errors.js";

/**
 * All 65,536 half-precision values by their bits. Those with a full exponent are never looked up.
 */
const HALVES = Float32Array.from({ length: 1 << 16 }, (_, bits) => half(bits));
const FULL = 0x7c; // all bits of a half's exponent, in its high byte

/**
 * Return whether bytes begin with a magic line.
 * @param {string} magic
 * @param {Uint8Array} data
 * @returns {boolean}
 */
export function startsWith(magic, data) {
  return new TextEncoder().encode(magic).every((byte, at) => data[at] === byte);
}

/**
 * Split a document into the header's JSON and the block. Throws `DataError` for other bytes.
 * @param {string} magic
 * @param {Uint8Array} data
 * @param {string} what
 * @returns {[text: Uint8Array, numbers: Numbers]}
 */
export function parted(magic, data, what) {
  if (!startsWith(magic, data)) throw new DataError(`This is not a valid ${what}.`);
  const start = magic.length + 4;
  if (data.length < start) throw cut(what);
  const end = start + new DataView(data.buffer, data.byteOffset).getUint32(magic.length, true);
  if (data.length < end) throw cut(what);
  return [data.subarray(start, end), new Numbers(data.subarray(end), what)];
}

/** A reader of a block, from front to back. */
export class Numbers {
  #block;
  #what;
  #at = 0;

  /**
   * @param {Uint8Array} block
   * @param {string} what name of the document in error messages
   */
  constructor(block, what) {
    this.#block = block;
    this.#what = what;
  }

  /**
   * Require a block of exactly `size` bytes. Throws `DataError` otherwise.
   * @param {number} size
   */
  require(size) {
    if (this.#block.length < size) throw cut(this.#what);
    if (this.#block.length > size) {
      throw new DataError(
        `This ${this.#what} is longer than its header declares; download it again.`,
      );
    }
  }

  /**
   * Return the next `size` bytes, without a copy.
   * @param {number} size
   * @returns {Uint8Array}
   */
  take(size) {
    this.#at += size;
    return this.#block.subarray(this.#at - size, this.#at);
  }

  /**
   * Return the next `count` singles. Throws `DataError` if one is infinite or NaN.
   * @param {number} count
   * @returns {Float32Array}
   */
  floats(count) {
    const part = this.take(4 * count);
    const view = new DataView(part.buffer, part.byteOffset, part.length);
    const numbers = new Float32Array(count);
    for (let k = 0; k < count; k++) numbers[k] = view.getFloat32(4 * k, true);
    if (!numbers.every(Number.isFinite)) throw this.#infinite();
    return numbers;
  }

  /**
   * Return the next `count` numbers: halves if `half`, otherwise singles.
   * @param {number} count
   * @param {boolean} half
   * @returns {Float32Array}
   */
  rounded(count, half) {
    return half ? halves(this.halves(count), 0, count) : this.floats(count);
  }

  /**
   * Return the bytes of the next `count` halves. Throws `DataError` if one is infinite or NaN.
   * @param {number} count
   * @returns {Uint8Array}
   */
  halves(count) {
    const part = this.take(2 * count);
    for (let high = 1; high < part.length; high += 2) {
      if (((part[high] ?? 0) & FULL) === FULL) throw this.#infinite();
    }
    return part;
  }

  #infinite() {
    return new DataError(`A number of this ${this.#what} is infinite or NaN.`);
  }
}

/**
 * Decode `count` values of a block of little-endian halves, starting at number `first`.
 * @param {Uint8Array} block
 * @param {number} first
 * @param {number} count
 * @returns {Float32Array}
 */
export function halves(block, first, count) {
  const numbers = new Float32Array(count);
  for (let k = 0, at = 2 * first; k < count; k++, at += 2) {
    numbers[k] = HALVES[(block[at] ?? 0) | ((block[at + 1] ?? 0) << 8)] ?? 0;
  }
  return numbers;
}

/**
 * Decode `count` little-endian unsigned integers of `size` bytes, 2 or 4, starting at number
 * `first`.
 * @param {Uint8Array} block
 * @param {number} first
 * @param {number} count
 * @param {number} size
 * @returns {Uint32Array}
 */
export function integers(block, first, count, size) {
  const view = new DataView(block.buffer, block.byteOffset + size * first, size * count);
  const numbers = new Uint32Array(count);
  for (let k = 0; k < count; k++) {
    numbers[k] = size === 2 ? view.getUint16(2 * k, true) : view.getUint32(4 * k, true);
  }
  return numbers;
}

/**
 * Return the value of a half: sign, five exponent bits and ten fraction bits.
 * @param {number} bits
 */
function half(bits) {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const size = exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
  return bits < 1 << 15 ? size : -size;
}

/** @param {string} what */
function cut(what) {
  return new DataError(`This ${what} is truncated; download it again.`);
}
