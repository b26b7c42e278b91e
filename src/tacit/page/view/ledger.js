/** The ledger: for each item that was rated or marked what was true, what left, and what can be inferred from it. */

import { barsView } from "./bars.js";
import { UNRATED } from "../device/documents/channel.js";
import { make } from "./dom.js";
import { pastOf } from "../device/answering/due.js";
import { entriesOf } from "../device/answering/entries.js";
import { nano, nats } from "../device/answering/ledger.js";
import { valueInWords, vocabulary } from "./vocabulary.js";
import { count, short, titleOf, unit } from "./words.js";
import { hasOneLevel } from "../device/documents/scale.js";

/** @typedef {import("../device/documents/channel.js").Channel} Channel */
/** @typedef {import("../device/store.js").Answer} Answer */
/** @typedef {import("../device/answering/entries.js").Entry} Entry */
/** @typedef {import("../device/store.js").Rows} Rows */
/** @typedef {import("../device/documents/task.js").Task} Task */

/**
 * Everything that left for places the person rated, by place; other places are counted.
 * @param {Task} task
 * @param {Rows} rows
 * @param {number} shown how many entries
 * @param {() => void} more asks for more of them
 * @returns {HTMLElement}
 */
export function ledgerView(task, rows, shown, more) {
  const entries = entriesOf(task, rows);
  const reported = pastOf(rows, task.question).last.size;
  const others = reported - entries.filter(({ last }) => last).length;
  const list = entries.slice(0, shown).map((entry) => entryView(task, entry, reported > 0));
  const rest = entries.length - list.length;
  const button = make("button", { type: "button", click: more }, `Show more (${rest} left)`);
  return make(
    "div",
    {},
    entries.length === 0
      ? make("p", { class: "quiet" }, `You have ${vocabulary(task).did} nothing yet.`)
      : make("ul", { class: "entries" }, ...list),
    rest > 0 ? button : "",
    others > 0 ? make("p", { class: "quiet" }, othersInWords(task, others)) : "",
  );
}

/**
 * @param {Task} task
 * @param {Entry} entry
 * @param {boolean} begun whether anything left for this task
 */
function entryView(task, { place, level, last, answers, waits }, begun) {
  const channel = task.channels.find(({ id }) => id === last?.channel);
  const answer = answers.find(
    ({ channel: id, value }) => id === last?.channel && value === last.value,
  );
  const title = make("h3", {}, titleOf(task, place));
  const truth =
    level === undefined && !task.hidesPresence
      ? "cleared"
      : valueInWords(task.scale, level ?? UNRATED);
  if (channel === undefined || answer === undefined) {
    const left =
      begun && task.hidesPresence ? "nothing: you are not asked about it" : "nothing yet";
    return make(
      "li",
      { class: "entry" },
      title,
      facts([
        ["True", truth],
        ["Left", left],
      ]),
    );
  }
  const said = facts([
    ["True", truth],
    ["Left", `${outputInWords(channel, answer.symbol)}${waits ? ", waiting to be sent" : ""}`],
    ["Cost", costInWords(task, answers)],
  ]);
  const current = level ?? (task.hidesPresence ? UNRATED : answer.value);
  const changed =
    current === answer.value ? "" : make("p", { class: "quiet" }, changedInWords(task, answer.value));
  return make(
    "li",
    { class: "entry" },
    title,
    said,
    changed,
    barsView(channel, answer.symbol, level ?? (task.hidesPresence ? UNRATED : "")),
  );
}

/**
 * @param {Task} task
 * @param {string} value
 */
function changedInWords(task, value) {
  const was = valueInWords(task.scale, value);
  const { noun } = vocabulary(task);
  return `This answered for your earlier “${was}”. A changed ${noun} is answered in a later period.`;
}

/**
 * @param {Channel} channel
 * @param {number} symbol
 */
function outputInWords(channel, symbol) {
  const output = channel.outputs[symbol] ?? UNRATED;
  const quoted = output === UNRATED || (hasOneLevel(channel) && output === channel.levels[0]);
  const stands = quoted ? `“${valueInWords(channel, output)}”` : short(Number(output));
  return `symbol ${symbol}, which stands for ${stands}`;
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
  const drawn = answers.length === 1 ? "" : `, for ${count(answers.length, "answer")}`;
  return `epsilon = ${nats(spent)} on this ${unit(task)}${drawn}`;
}

/** @param {readonly (readonly [string, string])[]} pairs */
function facts(pairs) {
  const rows = pairs.map(([name, value]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, value)),
  );
  return make("dl", { class: "facts" }, ...rows);
}

/**
 * @param {Task} task
 * @param {number} others
 */
function othersInWords(task, others) {
  const places = `${count(others, "other place")} of ${task.items.length}`;
  return `${places} left too, as an answer for “${vocabulary(task).none}”.`;
}
