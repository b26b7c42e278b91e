/** What a provider can infer from one symbol, knowing the table and nothing of the person. */

/**
 * P(input | symbol) under the uniform public prior: the symbol's column, divided by its sum.
 * @param {import("../documents/channel.js").Channel} channel
 * @param {number} symbol
 * @returns {number[]} one share an input, "missing" first where the channel has it
 */
export function posterior(channel, symbol) {
  const column = channel.weights.map((row) => Number(row[symbol] ?? 0n));
  const total = column.reduce((sum, weight) => sum + weight, 0);
  return column.map((weight) => weight / total);
}
