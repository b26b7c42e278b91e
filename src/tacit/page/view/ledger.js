/** The ledger view: for each rated or marked item what was sent, and what it lets others infer. */

import { historyOf } from "../device/answering/due.js";
import { entriesOf } from "../device/answering/entries.js";
import { nano, nats } from "../device/answering/ledger.js";
import { UNRATED } from "../device/documents/channel.js";
import { posterior } from "../device/recommending/posterior.js";
import { make } from "./dom.js";
import { percent } from "./numbers.js";
import { titleOf } from "./rating.js";
import { valueInWords } from "./words/nouns.js";
import { TRUE } from "./words/page.js";
import * as words from "./words/sent.js";

/** @typedef {import("../device/store.js").Answer} Answer */
/** @typedef {import("../device/answering/entries.js").Entry} Entry */
/** @typedef {import("./fate.js").Fate} Fate */
/** @typedef {import("../device/store.js").Rows} Rows */
/** @typedef {import("../device/documents/task.js").Task} Task */

/**
 * Show the answers sent for rated items, in index order, and the number of answers for other items.
 * @param {Task} task
 * @param {Rows} rows
 * @param {ReadonlyMap<number, Fate>} fates
 * @param {number} shown maximum number of entries
 * @param {() => void} more callback that requests more entries
 * @returns {HTMLElement}
 */
export function ledgerView(task, rows, fates, shown, more) {
  const entries = entriesOf(task, rows).filter(({ last }) => last);
  const others = historyOf(rows, task.question).last.size - entries.length;
  const list = entries
    .slice(0, shown)
    .map((entry) => entryView(task, entry, fates.get(entry.place)));
  const rest = entries.length - list.length;
  const button = make("button", { type: "button", click: more }, words.restInWords(rest));
  return make(
    "div",
    {},
    make("ul", { class: "entries" }, ...list),
    rest > 0 ? button : "",
    others > 0 ? make("p", { class: "quiet" }, words.othersInWords(task, others)) : "",
  );
}

/**
 * @param {Task} task
 * @param {Entry} entry
 * @param {Fate | undefined} fate
 */
function entryView(task, { place, level, last, answers }, fate) {
  const channel = task.channels.find(({ id }) => id === last?.channel);
  const answer = answers.find(
    ({ channel: id, value }) => id === last?.channel && value === last.value,
  );
  const title = make("h3", {}, titleOf(task, place));
  if (channel === undefined || answer === undefined) return make("li", { class: "entry" }, title);
  const output = channel.outputs[answer.symbol] ?? UNRATED;
  const truth = level ?? (task.hidesPresence ? UNRATED : "");
  const aside = fate?.kind === "sent" ? "" : make("p", { class: "fate" }, fate?.text ?? "");
  return make(
    "li",
    { class: "entry" },
    title,
    make("p", {}, words.leftInWords(task, output, answer.value)),
    make("p", { class: "quiet" }, costInWords(task, answers)),
    aside,
    barsView(channel, answer.symbol, truth),
  );
}

/**
 * @param {Task} task
 * @param {readonly Answer[]} answers
 */
function costInWords(task, answers) {
  const spent = answers.reduce((sum, answer) => {
    const channel = task.channels.find(({ id }) => id === answer.channel);
    return sum + (channel ? nano(channel.epsilon) : 0n);
  }, 0n);
  return words.costInWords(task, nats(spent), answers.length);
}

// Bar chart of the posterior given one symbol: one bar per possible value, with its share.

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
