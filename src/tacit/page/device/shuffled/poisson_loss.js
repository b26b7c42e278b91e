/**
 * Privacy loss of Poisson counts, some of which have one more under P and some under Q.
 *
 * `divergence` returns an upper bound on delta = E_P[(1 - e^(epsilon - L))+] by an inverse Laplace
 * transform on a vertical line. Its derivation is in `tacit.privacy.poisson_loss`, which evaluates
 * the same sums in the same order. Functions of two implementations may differ in the last digits,
 * which `ROUNDING` covers.
 */

/** Counts are summed up to a tail probability of e^-50 on either side. */
const OUTSIDE = 50;
/** Period in standard deviations of L, and its least value in 1 / c. */
const [PERIOD, DECAY] = [9, 40];
/** Deviation of the added normal loss in periods, and the largest term. */
const [SMOOTHING, TERMS] = [1 / 200, 180];
const ROUNDING = 1 + 1e-9;
/** Counts per retained one, in standard deviations. */
const COARSE = 1 / 20;
/** The largest exponent c L. Doubles overflow at 709. */
const LARGEST = 600;
const SECTIONS = 28;

/**
 * Independent Poisson counts of one `mean`. `gained`: number of counts that have one more under P.
 * `lost`: the same under Q.
 * @typedef {{ readonly mean: number, readonly gained: number, readonly lost: number }} PoissonCounts
 */
/**
 * Law of the loss of one count under P. `copies`: number of such counts. `infinite`: probability of
 * an infinite loss, or of a count outside the range.
 * @typedef {{ readonly copies: number, readonly losses: Float64Array,
 *   readonly weights: Float64Array, readonly infinite: number }} Losses
 */
/** @typedef {readonly [number: number, probability: number]} Point */

/**
 * Return an upper bound on delta of P against Q at `epsilon` nats, for all counts together.
 * @param {readonly PoissonCounts[]} counts
 * @param {number} epsilon
 * @returns {number}
 */
export function divergence(counts, epsilon) {
  const laws = counts.flatMap(lawsOf).filter(({ copies }) => copies > 0);
  if (laws.length === 0) return 0;
  const c = saddlePoint(laws, epsilon);
  const beyond = -Math.expm1(sum(laws.map((law) => law.copies * Math.log1p(-law.infinite))));
  return Math.min(1, ROUNDING * (inversion(laws, epsilon, c) + beyond));
}

/**
 * @param {PoissonCounts} counts
 * @returns {[Losses, Losses]}
 */
function lawsOf({ mean, gained, lost }) {
  const law = poisson(mean);
  const every = Math.max(Math.trunc(COARSE * Math.sqrt(mean)), 1);
  const outside = 2 * Math.exp(-OUTSIDE);
  const first = law[0];
  const zero = first !== undefined && first[0] === 0 ? first[1] : 0;
  const more = law.map(([k, p]) => /** @type {Point} */ ([Math.log((k + 1) / mean), p]));
  const less = law.filter(([k]) => k > 0).map(([k, p]) => /** @type {Point} */ ([-Math.log(k / mean), p]));
  return [
    { copies: gained, ...thinned(more, every), infinite: outside },
    { copies: lost, ...thinned(less, every), infinite: outside + zero },
  ];
}

/**
 * Return one in `every` losses, with probabilities that bound delta from above: the probability of
 * any other loss x is divided between its neighbours such that the mean of e^(-x) remains (Jensen).
 * @param {readonly Point[]} law
 * @param {number} every
 */
function thinned(law, every) {
  const points = law.filter((_, k) => k % every === 0 && k < law.length - 1).concat(law.slice(-1));
  const weights = new Float64Array(points.length);
  law.forEach(([x, p], k) => {
    const cell = Math.min(Math.floor(k / every), points.length - 1);
    const [low, high] = [points[cell], points[cell + 1]];
    if (low === undefined || high === undefined) return void add(weights, cell, p);
    const [start, end] = [Math.exp(-low[0]), Math.exp(-high[0])];
    const share = (start - Math.exp(-x)) / (start - end);
    add(weights, cell, p * (1 - share));
    add(weights, cell + 1, p * share);
  });
  return { losses: Float64Array.from(points, ([x]) => x), weights };
}

/**
 * Return counts and probabilities, with the probability outside the range added to them. The range
 * follows from P(|X - mean| >= w) <= 2 exp(-w^2 / (2 (mean + w / 3))).
 * @param {number} mean
 * @returns {Point[]}
 */
function poisson(mean) {
  const width = Math.sqrt(2 * OUTSIDE * mean) + OUTSIDE;
  const first = Math.max(0, Math.trunc(mean - width));
  const [mode, last] = [Math.trunc(mean), Math.trunc(mean + width) + 1];
  const relative = new Float64Array(last - first + 1);
  relative[mode - first] = 1;
  for (let k = mode; k > first; k--) relative[k - 1 - first] = (at(relative, k - first) * k) / mean;
  for (let k = mode + 1; k <= last; k++)
    relative[k - first] = (at(relative, k - 1 - first) * mean) / k;
  const total = sum(relative);
  return Array.from(relative, (p, j) => [first + j, p / total]);
}

/**
 * Return log E[e^(c L); L finite].
 * @param {readonly Losses[]} laws
 * @param {number} c
 */
function logMoment(laws, c) {
  return sum(laws.map((law) => law.copies * Math.log(sum(raised(law, c)))));
}

/**
 * Return c that minimizes E[e^(c L)] e^(-c epsilon) / (c (c + 1)), by golden sections of log c. Any c
 * is valid. The best one gives the least error.
 * @param {readonly Losses[]} laws
 * @param {number} epsilon
 */
function saddlePoint(laws, epsilon) {
  const exponent = (/** @type {number} */ logC) => {
    const c = Math.exp(logC);
    return logMoment(laws, c) - c * epsilon - logC - Math.log(c + 1);
  };
  const steepest = laws
    .flatMap(({ losses }) => [...losses])
    .reduce((most, loss) => Math.max(most, Math.abs(loss)), 0);
  let [low, high] = [Math.log(1e-3), Math.log(LARGEST / steepest)];
  const golden = (Math.sqrt(5) - 1) / 2;
  let [inner, outer] = [high - golden * (high - low), low + golden * (high - low)];
  let [atInner, atOuter] = [exponent(inner), exponent(outer)];
  for (let k = 0; k < SECTIONS; k++) {
    if (atInner < atOuter) {
      [high, outer, atOuter] = [outer, inner, atInner];
      inner = high - golden * (high - low);
      atInner = exponent(inner);
    } else {
      [low, inner, atInner] = [inner, outer, atOuter];
      outer = low + golden * (high - low);
      atOuter = exponent(outer);
    }
  }
  return Math.exp((low + high) / 2);
}

/**
 * Return the sum over the terms, which bounds delta without the infinite losses.
 * @param {readonly Losses[]} laws
 * @param {number} epsilon
 * @param {number} c
 */
function inversion(laws, epsilon, c) {
  const laplace = laws.map((law) => new Tilted(law, c));
  const deviation = Math.sqrt(sum(laplace.map((law) => law.copies * law.variance)));
  const period = Math.max(PERIOD * deviation, DECAY / c);
  const [step, s] = [(2 * Math.PI) / period, SMOOTHING * period];
  let total = -0.5 * (1 / (c * (c + 1))) * Math.exp((s * s * c * (c + 1)) / 2);
  for (const law of laplace) law.turnBy(step);
  for (let n = 0; n <= TERMS; n++) {
    const y = n * step;
    // t (t + 1) for t = c + i y; the term is moment e^(s^2 t (t + 1) / 2 - i y epsilon) / (t (t + 1)).
    const [real, imaginary] = [c * c - y * y + c, 2 * c * y + y];
    let size = Math.exp((s * s * real) / 2) / Math.hypot(real, imaginary);
    let angle = (s * s * imaginary) / 2 - y * epsilon - Math.atan2(imaginary, real);
    for (const law of laplace) {
      const [modulus, argument] = law.next();
      size *= modulus;
      angle += argument;
    }
    total += size * Math.cos(angle);
  }
  const cut = TERMS * step;
  const omitted =
    Math.exp((s * s * (c * c + c - cut * cut)) / 2) / cut ** 2 / Math.expm1(s * s * step * cut);
  const logScale = logMoment(laws, c) - c * epsilon;
  return logScale > LARGEST ? Infinity : Math.exp(logScale) * (step / Math.PI) * (total + omitted);
}

/** The law with density e^(c L) / E[e^(c L)], and its moments at t = c + i n step, n = 0, 1, .. */
class Tilted {
  #losses;
  #real;
  #imaginary;
  #cosines = new Float64Array();
  #sines = new Float64Array();

  /**
   * @param {Losses} law
   * @param {number} c
   */
  constructor(law, c) {
    const weights = raised(law, c);
    const total = sum(weights);
    this.copies = law.copies;
    this.#losses = law.losses;
    this.#real = weights.map((p) => p / total);
    this.#imaginary = new Float64Array(weights.length);
    const mean = sum(this.#real.map((p, k) => p * at(law.losses, k)));
    this.variance = sum(this.#real.map((p, k) => p * (at(law.losses, k) - mean) ** 2));
  }

  /** @param {number} step */
  turnBy(step) {
    this.#cosines = this.#losses.map((x) => Math.cos(step * x));
    this.#sines = this.#losses.map((x) => Math.sin(step * x));
  }

  /**
   * Return modulus and argument of the next E[e^(t L)] / E[e^(c L)], to the power of the copies.
   * @returns {[number, number]}
   */
  next() {
    let [real, imaginary] = [0, 0];
    for (let k = 0; k < this.#real.length; k++) {
      const [x, y] = [at(this.#real, k), at(this.#imaginary, k)];
      const [cosine, sine] = [at(this.#cosines, k), at(this.#sines, k)];
      real += x;
      imaginary += y;
      this.#real[k] = x * cosine - y * sine;
      this.#imaginary[k] = x * sine + y * cosine;
    }
    return [Math.hypot(real, imaginary) ** this.copies, Math.atan2(imaginary, real) * this.copies];
  }
}

/**
 * Return the weights times e^(c L).
 * @param {Losses} law
 * @param {number} c
 */
function raised({ losses, weights }, c) {
  return weights.map((p, k) => p * Math.exp(c * at(losses, k)));
}

/**
 * Return the sum with one correction (Neumaier): Python adds exactly.
 * @param {ArrayLike<number>} numbers
 */
function sum(numbers) {
  let [total, rest] = [0, 0];
  for (let k = 0; k < numbers.length; k++) {
    const next = at(numbers, k);
    const more = total + next;
    rest += Math.abs(total) >= Math.abs(next) ? total - more + next : next - more + total;
    total = more;
  }
  return total + rest;
}

/**
 * @param {Float64Array} numbers
 * @param {number} index
 * @param {number} more
 */
function add(numbers, index, more) {
  numbers[index] = at(numbers, index) + more;
}

/**
 * @param {ArrayLike<number>} numbers
 * @param {number} index
 */
function at(numbers, index) {
  return numbers[index] ?? NaN;
}
