/** Histogram of the noise: the channel's output distribution for one value, a column per value. */

import { row, UNRATED } from "../../device/documents/channel.js";
import { make } from "../dom.js";

/** @typedef {import("../../device/documents/channel.js").Channel} Channel */

/**
 * Return the share of draws nearest to each value. "missing" is first if the channel has it.
 * @param {Channel} channel
 * @param {string} value the true value
 * @returns {Map<string, number>}
 */
export function sharesOf(channel, value) {
  const values = channel.missing ? [UNRATED, ...channel.levels] : channel.levels;
  const shares = new Map(values.map((one) => [one, 0]));
  const weights = channel.weights[row(channel, value)] ?? [];
  weights.forEach((weight, symbol) => {
    const nearest = nearestOf(channel, channel.outputs[symbol] ?? UNRATED);
    shares.set(nearest, (shares.get(nearest) ?? 0) + Number(weight) / 2 ** channel.wordBits);
  });
  return shares;
}

/**
 * @param {ReadonlyMap<string, number>} shares
 * @param {string} value the true value
 * @param {number} most the largest share among all pictures, which sets the common scale
 * @returns {HTMLElement}
 */
export function noiseView(shares, value, most) {
  const columns = [...shares].map(([one, share]) => {
    const column = make("span", { class: one === value ? "true" : "" });
    column.style.setProperty("--share", String(share / most));
    return column;
  });
  return make("span", { class: "noise", part: "noise", "aria-hidden": "true" }, ...columns);
}

/**
 * Return the value nearest to an output. Mechanisms may have symbols outside the scale.
 * @param {Channel} channel
 * @param {string} output
 */
function nearestOf(channel, output) {
  if (output === UNRATED) return channel.missing ? UNRATED : (channel.levels[0] ?? UNRATED);
  const far = (/** @type {string} */ level) => Math.abs(Number(level) - Number(output));
  return channel.levels.reduce((best, level) => (far(level) < far(best) ? level : best));
}
