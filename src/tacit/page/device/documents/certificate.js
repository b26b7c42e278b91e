/**
 * The verifier: proves in integer arithmetic that a table satisfies its epsilon, or returns the
 * reason why it does not.
 *
 * If no symbol is more than R times likelier under one input than under another, and R <=
 * e^epsilon, then one report is epsilon-locally private over every pair of inputs. Rows have equal
 * totals, which cancel. The proof does not depend on who made the table.
 */

const DECIMAL = /^[0-9]{1,3}(\.[0-9]{1,18})?$/;

/** @typedef {{ readonly numerator: bigint, readonly denominator: bigint }} Fraction */

/**
 * Return a rational of at most e^epsilon, epsilon >= 0: its Taylor sum. The dropped terms are
 * positive.
 * @param {Fraction} epsilon
 * @param {number} [terms]
 * @returns {Fraction}
 */
export function expLower(epsilon, terms = 80) {
  let [numerator, denominator] = [1n, 1n];
  for (let k = terms; k > 0; k--) {
    numerator *= epsilon.numerator;
    denominator *= epsilon.denominator * BigInt(k);
    numerator += denominator;
  }
  return { numerator, denominator };
}

/**
 * Return the reason why the table does not prove `epsilon` nats per report, as a sentence, or null
 * if it does.
 * @param {readonly (readonly bigint[])[]} weights
 * @param {number} wordBits
 * @param {string} epsilon
 * @returns {string | null}
 */
export function flaw(weights, wordBits, epsilon) {
  if (!DECIMAL.test(epsilon)) {
    return `Epsilon '${epsilon.slice(0, 40)}' is not a plain decimal such as 0.5.`;
  }
  if (!(wordBits >= 1 && wordBits <= 64)) {
    return `A word must have 1 to 64 bits, got ${wordBits}.`;
  }
  const width = weights[0]?.length ?? 0;
  if (width === 0 || weights.some((row) => row.length !== width)) {
    return "The table is empty, or its rows differ in length.";
  }
  if (weights.some((row) => row.some((weight) => weight < 1n))) {
    return "Weights must be positive integers; leave out symbols that never occur.";
  }
  for (const [number, row] of weights.entries()) {
    const total = row.reduce((sum, weight) => sum + weight, 0n);
    if (total !== 1n << BigInt(wordBits)) {
      return `Row ${number} of the table sums to ${total}, not to 2^${wordBits}.`;
    }
  }
  return unequal(weights, epsilon);
}

/**
 * Return the first symbol whose probabilities differ by more than e^epsilon, as a sentence.
 * @param {readonly (readonly bigint[])[]} weights
 * @param {string} epsilon
 * @returns {string | null}
 */
function unequal(weights, epsilon) {
  const ratio = expLower(fraction(epsilon));
  for (const symbol of weights[0]?.keys() ?? []) {
    const column = weights.map((row) => row[symbol] ?? 0n);
    const most = column.reduce((a, b) => (a > b ? a : b));
    const least = column.reduce((a, b) => (a < b ? a : b));
    if (most * ratio.denominator > least * ratio.numerator) {
      const worst = `${most}/${least}`;
      return (
        `Symbol ${symbol} has likelihood ratio ${worst}, above e^${epsilon}; claim a larger ` +
        "epsilon."
      );
    }
  }
  return null;
}

/**
 * @param {string} epsilon a plain decimal
 * @returns {Fraction}
 */
function fraction(epsilon) {
  const [before = "0", after = ""] = epsilon.split(".");
  return { numerator: BigInt(before + after), denominator: 10n ** BigInt(after.length) };
}
