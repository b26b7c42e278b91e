/** A picture of the noise: where a channel may move one value, a column for each that there is. */

import { row, UNRATED } from "../device/documents/channel.js";
import { make } from "./dom.js";

/** @typedef {import("../device/documents/channel.js").Channel} Channel */

/**
 * What share of draws come nearest to each value, no rating first where the channel knows it.
 * @param {Channel} channel
 * @param {string} value that is true
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
 * @param {string} value that is true
 * @param {number} most share of any picture beside this one
 * @returns {HTMLElement}
 */
export function noiseView(shares, value, most) {
  const columns = [...shares].map(([one, share]) => {
    const column = make("span", { class: one === value ? "true" : "" });
    column.style.setProperty("--share", String(share / most));
    return column;
  });
  return make("span", { class: "noise", "aria-hidden": "true" }, ...columns);
}

/**
 * The value that an output is nearest to: mechanisms may put symbols off the scale.
 * @param {Channel} channel
 * @param {string} output
 */
function nearestOf(channel, output) {
  if (output === UNRATED) return channel.missing ? UNRATED : (channel.levels[0] ?? UNRATED);
  const far = (/** @type {string} */ level) => Math.abs(Number(level) - Number(output));
  return channel.levels.reduce((best, level) => (far(level) < far(best) ? level : best));
}
