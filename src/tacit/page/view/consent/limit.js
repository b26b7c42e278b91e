/** The lifetime limit in the consent form: its suggestion, and how many answers it is enough for. */

import { cellsOf } from "../../device/answering/due.js";
import { affords, left, nano, nats } from "../../device/answering/ledger.js";
import { sentence } from "../../device/errors.js";
import * as words from "../words/contract.js";

/** @typedef {import("../../device/documents/task.js").Task} Task */

/**
 * Return the suggested lifetime limit: for 100 answers, two full reports, or all answers to a task
 * that is answered block by block, after what is spent.
 * @param {Task} task
 * @param {string} epsilon
 * @param {bigint} spent
 * @returns {string}
 */
export function modestLimit(task, epsilon, spent) {
  const reports = task.growth === null ? 2 : 1;
  const answers = task.hidesPresence ? reports * cellsOf(task) : 100;
  return nats(spent + nano(String(Math.ceil(answers * Number(epsilon)))));
}

/**
 * Describe the number of answers that a limit is enough for, after what is spent.
 * @param {Task} task
 * @param {string} epsilon
 * @param {string} lifetime as typed by the user
 * @param {bigint} spent
 * @returns {string}
 */
export function enough(task, epsilon, lifetime, spent) {
  try {
    const [cost, ledger] = [nano(epsilon), { limit: nano(lifetime), spent }];
    if (cost === 0n) return words.FREE;
    const cells = cellsOf(task);
    const first = task.hidesPresence && !affords(ledger, BigInt(cells) * cost);
    return words.enoughInWords(task, Number(left(ledger) / cost), first ? cells : null);
  } catch (error) {
    return sentence(error);
  }
}
