/** The complementary error function, accurate to the last few digits of a double. */

const SPLIT = 2;
const TERMS = 64;

/**
 * Return 2 / sqrt(pi) times the integral of exp(-t^2) from x to infinity.
 * @param {number} x
 * @returns {number}
 */
export function erfc(x) {
  if (x < 0) return 2 - erfc(-x);
  return x < SPLIT ? 1 - series(x) : fraction(x);
}

/**
 * erf(x) = 2 / sqrt(pi) exp(-x^2) sum over n of 2^n x^(2n + 1) / (2n + 1)!!, of positive terms.
 * @param {number} x
 */
function series(x) {
  let term = x;
  let total = x;
  for (let n = 1; term > (total * Number.EPSILON) / 4; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    total += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * total;
}

/**
 * erfc(x) = exp(-x^2) / sqrt(pi) / (x + (1/2) / (x + (2/2) / (x + (3/2) / ..))), innermost first.
 * @param {number} x
 */
function fraction(x) {
  let inner = x;
  for (let n = TERMS; n > 0; n--) inner = x + n / 2 / inner;
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / inner;
}
