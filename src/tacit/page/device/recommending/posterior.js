/** Posterior of an input given one symbol, for an attacker with access to the table only. */

/**
 * Return P(input | symbol) under a uniform prior: the symbol's column, divided by its sum.
 * @param {import("../documents/channel.js").Channel} channel
 * @param {number} symbol
 * @returns {number[]} one share per input, "missing" first if the channel has it
 */
export function posterior(channel, symbol) {
  const column = channel.weights.map((row) => Number(row[symbol] ?? 0n));
  const total = column.reduce((sum, weight) => sum + weight, 0);
  return column.map((weight) => weight / total);
}
