/** Bar chart of the posterior given one symbol: one bar per possible value, with its share. */

import { UNRATED } from "../device/documents/channel.js";
import { make } from "./dom.js";
import { posterior } from "../device/recommending/posterior.js";
import { percent } from "./numbers.js";
import { valueInWords } from "./words/nouns.js";
import { TRUE } from "./words/page.js";

/**
 * @param {import("../device/documents/channel.js").Channel} channel
 * @param {number} symbol
 * @param {string} truth the user's value, marked on screen only
 * @returns {HTMLElement}
 */
export function barsView(channel, symbol, truth) {
  const inputs = channel.missing ? [UNRATED, ...channel.levels] : channel.levels;
  const shares = posterior(channel, symbol);
  const bars = inputs.map((value, row) => {
    const share = shares[row] ?? 0;
    const bar = make("span", { class: "bar", "aria-hidden": "true" });
    bar.style.setProperty("--share", String(share));
    const mark = value === truth ? make("span", { class: "yours" }, TRUE) : "";
    return make(
      "li",
      { class: value === truth ? "true" : "" },
      make("span", { class: "level" }, valueInWords(channel, value)),
      bar,
      make("span", { class: "share" }, percent(share)),
      mark,
    );
  });
  return make("ol", { class: "bars" }, ...bars);
}
