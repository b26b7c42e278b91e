/** Exact plain decimals: an integer number of units of 10^-places. */

/** @typedef {{ readonly units: bigint, readonly places: number }} Decimal */

const PLAIN = /^(-?[0-9]{1,40})(?:\.([0-9]{1,40}))?$/;

/**
 * Parse a decimal without an exponent. Undefined for other text.
 * @param {string} text
 * @returns {Decimal | undefined}
 */
export function decimal(text) {
  const parts = PLAIN.exec(text);
  if (parts === null) return undefined;
  const [, before = "", after = ""] = parts;
  return { units: BigInt(before + after), places: after.length };
}

/**
 * Format as the shortest plain decimal: no exponent, no trailing zeros, `0` never signed.
 * @param {Decimal} value
 * @returns {string}
 */
export function shortest(value) {
  const size = value.units < 0n ? -value.units : value.units;
  const digits = size.toString().padStart(value.places + 1, "0");
  const cut = digits.length - value.places;
  const after = digits.slice(cut).replace(/0+$/, "");
  return (value.units < 0n ? "-" : "") + digits.slice(0, cut) + (after && `.${after}`);
}

/**
 * Return the same value in units of 10^-places. `places` must be at least that of the value.
 * @param {Decimal} value
 * @param {number} places
 * @returns {bigint}
 */
export function scaled(value, places) {
  return value.units * 10n ** BigInt(places - value.places);
}

/**
 * Compare: negative, zero or positive as a is less than, equal to or greater than b.
 * @param {Decimal} a
 * @param {Decimal} b
 * @returns {number}
 */
export function compare(a, b) {
  const places = Math.max(a.places, b.places);
  const [left, right] = [scaled(a, places), scaled(b, places)];
  return left < right ? -1 : Number(left > right);
}
