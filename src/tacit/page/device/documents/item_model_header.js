/** The header of an item model: what its arrays mean, and how long they have to be. */

import { DataError } from "../errors.js";
import * as ratingScale from "./scale.js";
import { fields, listed, parse } from "./strict.js";
import { isItem, MOST_ITEMS } from "./task.js";

const KEYS = ["scale", "items", "factors", "link", "sigma", "mu", "features"].concat([
  "presence",
  "guarantee",
]);
const PRESENCE = ["log_mean", "log_scale", "damping"];
const PROMISE = ["epsilon", "unit", "trust", "released"];
const DETAILS = ["delta", "public", "assumptions", "exact", "fails", "uncovered"]; // or left out
const UNITS = ["none", "value", "slot", "user"];
const TRUSTED = ["nobody", "curator", "everybody"];
const LONGEST = 1 << 26;
const [MOST_DRAWS, MOST_FACTORS] = [32, 1024];
const WHAT = "The item model's header";

/**
 * `floats`: how many numbers have to follow.
 * @typedef {{ readonly scale: import("./scale.js").Scale, readonly items: (string | number)[],
 *   readonly factors: number, readonly link: "linear" | "cells", readonly sigma: number,
 *   readonly mu: number[], readonly features: number,
 *   readonly presence: { readonly logMean: number, readonly logScale: number,
 *     readonly damping: number } | null, readonly floats: number }} Header
 */

/**
 * The header in that JSON; throws `DataError` for what is none.
 * @param {Uint8Array} text
 * @returns {Header}
 */
export function loads(text) {
  const known = fields(parse(text, WHAT, LONGEST), WHAT, KEYS);
  const items = listed(known["items"], "items", itemId, WHAT, MOST_ITEMS);
  const [factors, features] = [one(known, "factors", integral), one(known, "features", integral)];
  const mu = listed(known["mu"], "mu", real, WHAT, MOST_DRAWS);
  const presence = presenceOf(known["presence"]);
  const scale = ratingScale.parse(one(known, "scale", wellFormed));
  const [row, d] = [1 + factors, features - 1];
  const drawn = items.length * row + row + features * row;
  /** @type {Header} */
  const header = {
    ...{ scale, items, factors, features, mu, presence },
    link: one(known, "link", linkOf),
    sigma: one(known, "sigma", real),
    floats: mu.length * drawn + (presence === null ? 0 : (items.length + 1) * d),
  };
  refuseGuarantee(known["guarantee"]);
  const wrong = flaws(header).find(([found]) => found);
  if (wrong) throw new DataError(`${WHAT} is malformed: ${wrong[1]}.`);
  return header;
}

/**
 * @param {Header} header
 * @returns {[boolean, string][]}
 */
function flaws({ items, factors, link, sigma, mu, features, presence }) {
  const [least, most] = presence === null ? [0, 0] : [1, MOST_FACTORS];
  return [
    [items.length === 0, "it has no items"],
    [new Set(items.map(String)).size !== items.length, "an item id occurs twice"],
    [factors < 0 || factors > MOST_FACTORS, `factors are not 0 to ${MOST_FACTORS}`],
    [mu.length === 0, `it has not 1 to ${MOST_DRAWS} draws`],
    [
      sigma < 0 || sigma > 0 !== (link === "cells"),
      "sigma is above 0 where the link is cells, and 0 where it is linear",
    ],
    [features < least || features > most, "its features do not go with its presence"],
    [
      presence !== null && (presence.logScale <= 0 || presence.damping < 0),
      "log_scale is not above 0, or damping is below",
    ],
  ];
}

/** @param {unknown} value */
function presenceOf(value) {
  if (value === null) return null;
  const known = fields(value, `${WHAT}'s presence`, PRESENCE);
  return {
    logMean: one(known, "log_mean", real),
    logScale: one(known, "log_scale", real),
    damping: one(known, "damping", real),
  };
}

/**
 * What the training promises is for people to read; it has to be of its form all the same.
 * @param {unknown} value
 */
function refuseGuarantee(value) {
  const known = fields(value, `${WHAT}'s guarantee`, PROMISE, DETAILS);
  const { delta = "", public: open = [], assumptions = [], exact = false, fails = null } = known;
  const { uncovered = [] } = known;
  /** @type {import("./strict.js").Fields} */
  const all = { ...known, delta, public: open, assumptions, exact, fails, uncovered };
  for (const key of ["public", "assumptions", "uncovered"]) listed(all[key], key, wellFormed, WHAT);
  for (const key of ["epsilon", "fails"]) if (all[key] !== null) one(all, key, wellFormed);
  for (const key of ["released", "delta"]) one(all, key, wellFormed);
  one(all, "unit", (unit) => UNITS.find((known) => known === unit));
  one(all, "trust", (trust) => TRUSTED.find((known) => known === trust));
  one(all, "exact", (exact) => (typeof exact === "boolean" ? exact : undefined));
}

/**
 * The value of a key; `read` gives undefined for what it refuses.
 * @template T
 * @param {import("./strict.js").Fields} known
 * @param {string} key
 * @param {(value: unknown) => T | undefined} read
 * @returns {T}
 */
function one(known, key, read) {
  const [value] = listed([known[key]], key, read, WHAT);
  return /** @type {T} */ (value);
}

/** @param {unknown} value */
function itemId(value) {
  return isItem(value) ? value : undefined;
}

/** @param {unknown} value */
function real(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** @param {unknown} value */
function integral(value) {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}

/** @param {unknown} value */
function wellFormed(value) {
  return typeof value === "string" && value.isWellFormed() ? value : undefined;
}

/**
 * @param {unknown} value
 * @returns {"linear" | "cells" | undefined}
 */
function linkOf(value) {
  return value === "linear" || value === "cells" ? value : undefined;
}
