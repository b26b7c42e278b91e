/** Choice of the noise level: how much each level reveals, in words and as a picture. */

import { make } from "../dom.js";
import { nano } from "../../device/answering/ledger.js";
import { choose } from "../../device/documents/task.js";
import { noiseView, sharesOf } from "./noise.js";
import { choicesInWords, guessInWords, staysInWords, sureInWords } from "../words/contract.js";

/** @typedef {import("../../device/documents/task.js").Task} Task */

/**
 * Return the distinct epsilons that the task offers, ascending.
 * @param {Pick<Task, "channels">} task
 * @returns {string[]}
 */
function offeredBy({ channels }) {
  const offered = [...new Set(channels.map(({ epsilon }) => epsilon))];
  return offered.sort((a, b) => Number(nano(a) - nano(b)));
}

/**
 * Return the median of the offered epsilons, the lower one of two.
 * @param {Pick<Task, "channels">} task
 * @returns {string}
 */
export function middleOf(task) {
  const offered = offeredBy(task);
  return offered[(offered.length - 1) >> 1] ?? "";
}

/**
 * Return a group of radio buttons.
 * @param {Task} task
 * @param {boolean} suggests whether the median is preselected
 * @param {(epsilon: string) => void} chosen
 * @returns {HTMLElement}
 */
export function choicesView(task, suggests, chosen) {
  const truth = task.scale.levels.at(-1) ?? "";
  const offered = offeredBy(task);
  const pictures = offered.map((epsilon) => sharesOf(choose(task, epsilon), truth));
  const most = Math.max(...pictures.flatMap((shares) => [...shares.values()]));
  const names = choicesInWords(offered.length);
  const choices = offered.map((epsilon, k) => {
    const shares = pictures[k] ?? new Map();
    const input = make("input", {
      type: "radio",
      name: "noise",
      value: epsilon,
      checked: suggests && epsilon === middleOf(task),
      change: () => chosen(epsilon),
    });
    return make(
      "label",
      { class: "choice", part: "choice" },
      input,
      make("span", { class: "name" }, names[k] ?? epsilon),
      make("strong", {}, sureInWords(surest(epsilon))),
      noiseView(shares, truth, most),
      make("span", { class: "quiet" }, staysInWords(task, truth, shares.get(truth) ?? 0)),
    );
  });
  return make("fieldset", { class: "choices", part: "choices" }, make("legend", {}, guessInWords(task)), ...choices);
}

/**
 * Return the maximum probability with which an attacker who observes an answer decides between two
 * equally likely values correctly: 1 / (1 + e^-epsilon), for every symbol.
 * @param {string} epsilon
 * @returns {number}
 */
export function surest(epsilon) {
  return 1 / (1 + Math.exp(-Number(epsilon)));
}
