/** Who asks what, what becomes public, and the person's own terms. */

import { make } from "./dom.js";
import { sentence } from "../device/errors.js";
import { affords, nano } from "../device/answering/ledger.js";
import { choose } from "../device/documents/task.js";
import { vocabulary } from "./vocabulary.js";
import {
  count,
  duration,
  epsilonInWords,
  eraseInWords,
  linkInWords,
  planInWords,
  publicInWords,
  together,
  unit,
} from "./words.js";

/** @typedef {import("../device/documents/task.js").Task} Task */
/** Decimals, in nats. @typedef {{ mostEpsilon: string, lifetime: string }} Terms */

/**
 * What the person reads before they agree.
 * @param {Task} task
 * @returns {HTMLElement}
 */
export function questionView(task) {
  const offered = [...new Set(task.channels.map(({ epsilon }) => epsilon))].join(", ");
  const rows = [
    ["Who asks", `${location.host}, once and for all: what is asked cannot change under you.`],
    ["What", planInWords(task)],
    ["Public", publicInWords(task)],
    [
      "Linkable",
      "Your answers to this question, with each other: they carry one made-up name. It is not your " +
        `name in other questions, but ${linkInWords(task)}`,
    ],
    [
      "Hidden",
      `${vocabulary(task).hidden}, behind noise drawn on this device. On offer: epsilon = ${offered} ` +
        `per ${unit(task)}, each proved in whole numbers by this page just now.`,
    ],
    [
      "Kept",
      `${count(task.retentionDays, "day")}, from the end of the period ` +
        `(${duration(task.epochSeconds)}) in which you answered. ` +
        `${eraseInWords(task)} What models have learnt cannot be called back.`,
    ],
  ];
  const list = rows.map(([name = "", text = ""]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, text)),
  );
  return make(
    "div",
    {},
    make("dl", { class: "terms" }, ...list),
    make(
      "p",
      {},
      make("a", { href: `/v1/tasks/${task.address}/label` }, "What this promises, on one page"),
      ", and what somebody who attacks made-up people finds.",
    ),
    make(
      "details",
      {},
      make("summary", {}, "The exact question"),
      make("p", { class: "address" }, `SHA-256 ${task.address}`),
    ),
  );
}

/**
 * The person's own maximum and lifetime limit, explained while the person types.
 * @param {Task} task
 * @param {Terms} terms to begin with
 * @param {string} verb of the button
 * @param {(terms: Terms) => void} agreed
 * @returns {HTMLElement}
 */
export function termsForm(task, terms, verb, agreed) {
  const number = { type: "text", inputmode: "decimal", autocomplete: "off", required: true };
  const maximum = make("input", {
    ...number,
    id: "maximum",
    value: terms.mostEpsilon,
    "aria-describedby": "meaning",
  });
  const limit = make("input", {
    ...number,
    id: "limit",
    value: terms.lifetime,
    "aria-describedby": "enough",
  });
  const meaning = make("p", { class: "quiet", id: "meaning", "aria-live": "polite" });
  const enough = make("p", { class: "quiet", id: "enough", "aria-live": "polite" });
  const explain = () => {
    meaning.textContent = meant(() => epsilonInWords(choose(task, maximum.value).epsilon, task));
    enough.textContent = meant(() => enoughInWords(task, maximum.value, limit.value));
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    agreed({ mostEpsilon: maximum.value, lifetime: limit.value });
  };
  explain();
  return make(
    "form",
    { class: "agree", novalidate: true, submit, input: explain },
    make(
      "div",
      { class: "field" },
      make("label", { for: "maximum" }, `Your maximum: epsilon per ${unit(task)}, for one answer`),
      maximum,
      meaning,
    ),
    make(
      "div",
      { class: "field" },
      make(
        "label",
        { for: "limit" },
        `Your lifetime limit: epsilon ${together(task)}, in all questions`,
      ),
      limit,
      enough,
    ),
    make("button", { class: "primary" }, verb),
  );
}

/**
 * Terms to begin with: the least epsilon on offer, and a hundred answers or two full reports.
 * @param {Task} task
 * @returns {Terms}
 */
export function modestTerms(task) {
  const [least = "1"] = task.channels
    .map(({ epsilon }) => epsilon)
    .sort((a, b) => Number(a) - Number(b));
  const answers = task.hidesPresence
    ? 2 * Math.min(task.slots ?? task.items.length, task.items.length)
    : 100;
  return { mostEpsilon: least, lifetime: String(Math.ceil(answers * Number(least))) };
}

/**
 * @param {Task} task
 * @param {string} mostEpsilon
 * @param {string} lifetime
 */
function enoughInWords(task, mostEpsilon, lifetime) {
  const cost = nano(choose(task, mostEpsilon).epsilon);
  const all = nano(lifetime);
  if (cost === 0n) return "Answers cost nothing.";
  const many = count(Number(all / cost), "answer");
  const cells = BigInt(Math.min(task.slots ?? task.items.length, task.items.length));
  if (task.hidesPresence && !affords({ limit: all, spent: 0n }, cells * cost)) {
    return `Enough for ${many}; a first report takes ${cells}.`;
  }
  return `Enough for ${many}. It counts for all questions, and erasing does not reset it.`;
}

/** @param {() => string} words */
function meant(words) {
  try {
    return words();
  } catch (error) {
    return sentence(error);
  }
}
