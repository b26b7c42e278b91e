/**
 * One sync's answers: each looked up, or else debited, drawn and remembered.
 *
 * A value is answered for once in a lifetime: drawing again would average the noise away. Nothing
 * is written here; what was drawn leaves the device only after `drawn` and `ledger` are on disk.
 */

import * as wireChannel from "../documents/channel.js";
import { draw, secretWord } from "./draw.js";
import { BudgetError } from "../errors.js";
import { debit, nano } from "./ledger.js";

/** @typedef {import("../documents/channel.js").Channel} Channel */
/** @typedef {import("../store.js").Answer} Answer */

export class Answers {
  #task;
  #channel;
  #known;
  #words;

  /**
   * @param {string} task
   * @param {Channel} channel
   * @param {readonly Answer[]} remembered
   * @param {import("./ledger.js").Ledger} ledger
   * @param {import("./draw.js").Words} [words] replaced in tests only
   */
  constructor(task, channel, remembered, ledger, words = secretWord) {
    this.#task = task;
    this.#channel = channel;
    this.#words = words;
    this.#known = new Map(
      remembered
        .filter((answer) => answer.task === task && answer.channel === channel.id)
        .map((answer) => [keyOf(answer.place, answer.value), answer.symbol]),
    );
    this.ledger = ledger;
    this.cost = nano(channel.epsilon);
    /** @type {Answer[]} */
    this.drawn = [];
    /** One for each value that the limit left without an answer. @type {BudgetError[]} */
    this.refusals = [];
  }

  /**
   * The symbol that answers for a value at a place; undefined where the limit allows no draw.
   * @param {number} place
   * @param {string} value
   * @returns {number | undefined}
   */
  give(place, value) {
    const row = wireChannel.row(this.#channel, value); // first: what is off the scale costs nothing
    const known = this.#known.get(keyOf(place, value));
    if (known !== undefined) return known;
    try {
      this.ledger = debit(this.ledger, this.cost);
    } catch (error) {
      if (!(error instanceof BudgetError)) throw error;
      this.refusals.push(error);
      return undefined;
    }
    const symbol = draw(this.#channel, row, this.#words);
    this.#known.set(keyOf(place, value), symbol);
    this.drawn.push({ task: this.#task, channel: this.#channel.id, place, value, symbol });
    return symbol;
  }
}

/**
 * @param {number} place
 * @param {string} value
 */
function keyOf(place, value) {
  return `${place} ${value}`;
}
