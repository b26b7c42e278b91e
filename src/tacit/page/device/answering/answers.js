/**
 * The answers of one sync: each is looked up, or else debited, drawn and stored.
 *
 * Each value is randomized once in a lifetime: fresh draws could be averaged to remove the noise.
 * Nothing is written here. The draws leave the device only after `drawn` and `ledger` are on disk.
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
    /**
     * One error per value that has no answer because of the lifetime limit.
     * @type {BudgetError[]}
     */
    this.refusals = [];
  }

  /**
   * Return the symbol that answers for a value at a catalogue index, or undefined if the limit
   * allows no draw.
   * @param {number} place
   * @param {string} value
   * @returns {number | undefined}
   */
  give(place, value) {
    const row = wireChannel.row(this.#channel, value); // first: a value off the scale costs nothing
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
