/**
 * Device of shuffled messages: one sealed bundle per task, paid for and stored before it is sent.
 *
 *     const policy = { mostEpsilon: "4", honest: "0.8", bundles: 10_000 };
 *     const [store, shuffler] = [await openStore(), "https://shuffler.example"];
 *     const me = new ShuffledClient({ store, shuffler, provider, policy, lifetime: "8" });
 *     await me.sync([17, 42]);
 *     console.log(await me.recommend([17, 42], 5));
 *
 * One transaction contains the debit and the bytes of the bundle: after a crash before it nothing
 * was drawn, and after it the same bytes are sent as often as necessary.
 */

import { debit, nano } from "../answering/ledger.js";
import { integer } from "../arguments.js";
import { levelOf } from "../documents/scale.js";
import { CertificateError, RequestError, TacitError } from "../errors.js";
import { ListProfile } from "../recommending/list_profile.js";
import { Profile } from "../recommending/profile.js";
import { LastModel } from "../recommending/last_model.js";
import { isList } from "../recommending/recommend.js";
import { Collector } from "../sending/collector.js";
import { FORGIVEN, isLater, pause } from "../sending/outbox.js";
import { inAllTabs } from "../store.js";
import { background } from "./background.js";
import { areRatings, checkKind, ownItems } from "./messages/signs.js";
import { limitsOf, refuseBeyond } from "./policy.js";
import * as register from "./register.js";
import { locationOf, Shuffler } from "./shuffler.js";
import * as shuffledTask from "./task.js";
import { OneTimeTokens } from "./tokens.js";

/** @typedef {import("../answering/ledger.js").Ledger} Ledger */
/** @typedef {import("../documents/item_model.js").ItemModel} ItemModel */
/** @typedef {import("../documents/list_model.js").ListModel} ListModel */
/** @typedef {import("../store.js").KnownShuffler} KnownShuffler */
/** @typedef {import("../store.js").Shuffled} Shuffled */
/** @typedef {import("./policy.js").ShuffledPolicy} ShuffledPolicy */
/** @typedef {import("./shuffler.js").Answer} Answer */
/** @typedef {import("./task.js").ShuffledTask} ShuffledTask */
/** @typedef {string | number} Item */
/** @typedef {string | number} Rating */
/**
 * The ids of a user's items, or ratings by item id.
 * @typedef {Iterable<Item> | ReadonlyMap<Item, Rating> | { readonly [item: string]: Rating }} OwnItems
 */

/**
 * `shuffler`, `provider`: their URLs. The origins must be those in a task, and models are downloaded
 * from the provider. `lifetime`: most epsilon of everything that is ever sent, with that of a
 * `Client` of the same store, in nats, a decimal string. `token`: enrolment token of the shuffler.
 * `providerToken`: that of the provider, for tasks that require signed tokens. The others are replaced
 * in tests only.
 * @typedef {{ readonly store: import("../store.js").Store, readonly shuffler: string,
 *   readonly provider: string, readonly policy: ShuffledPolicy, readonly lifetime: string,
 *   readonly token?: string | null, readonly providerToken?: string | null,
 *   readonly fetch?: typeof globalThis.fetch,
 *   readonly clock?: () => number, readonly words?: import("../answering/draw.js").Words,
 *   readonly alone?: <T>(work: () => Promise<T>) => Promise<T>,
 *   readonly work?: import("./background.js").Background }} ShuffledWorld
 */
/**
 * The outcome of a sync. `stored`: bundles that the shuffler acknowledged. `givenUp`: bundles that it
 * permanently refused. `waiting`: not acknowledged yet. `again`: Unix seconds before which another
 * sync sends nothing, null if it may send at once. `notes`: one sentence per problem.
 * @typedef {{ stored: number, givenUp: number, waiting: number, again: number | null,
 *   readonly notes: string[] }} ShuffledOutcome
 */

/** Statuses after which a bundle is deleted. @type {{ readonly [status: number]: string }} */
const REFUSED = {
  409: "the shuffler has another bundle of this token",
  410: "the batch is closed",
};
const [OK, CLOSED, UNKNOWN] = [200, 410, 404];

/** One user's device in shuffled tasks of a provider, through a shuffler. */
export class ShuffledClient {
  #store;
  #shuffler;
  #provider;
  #models;
  /**
   * The last released batch, null without one, undefined before a register.
   * @type {import("../recommending/last_model.js").Source | null | undefined}
   */
  #released;
  #policy;
  #limit;
  #clock;
  #words;
  #alone;
  #work;
  #tokens;

  /**
   * Throws `RequestError` for an invalid URL, epsilon or fraction.
   * @param {ShuffledWorld} world
   */
  constructor({ store, shuffler, provider, policy, lifetime, token = null, ...world }) {
    const { providerToken = null } = world;
    const { origin, href } = locationOf(provider);
    this.#store = store;
    this.#shuffler = new Shuffler(shuffler, token, world.fetch);
    this.#provider = origin;
    const place = href.replace(/\/+$/, "");
    this.#models = new LastModel(new Collector({ origin, place, ...(world.fetch && { fetch: world.fetch }) }));
    this.#policy = limitsOf(policy);
    this.#limit = nano(lifetime);
    this.#clock = world.clock ?? (() => Date.now() / 1000);
    this.#words = world.words;
    this.#alone = world.alone ?? inAllTabs;
    this.#work = world.work ?? background();
    const signing = new Shuffler(provider, providerToken, world.fetch);
    this.#tokens = new OneTimeTokens(store, signing, this.#clock);
  }

  /**
   * Return epsilon of all draws so far, and the limit, in nano-epsilon.
   * @returns {Promise<Ledger>}
   */
  async ledger() {
    const { ledger } = await this.#store.read();
    return { limit: this.#limit, spent: ledger[0]?.spent ?? 0n };
  }

  /**
   * Answer the provider's open task, and send pending bundles. Between two tasks, report to the
   * shuffler that this device is ready for the next one. A task that requires signed tokens is
   * answered by a later call than the one that requests a token: the moment is random, and no epsilon
   * is debited before.
   *
   * `items`: ids of all items of the user, whatever the task. For tasks about star ratings, all ratings
   * by item id, as in `{ 17: "4" }`. Call it on a schedule that does not depend on them. A task is
   * answered once, with the items of that moment, and its bundle cannot be withdrawn.
   *
   * Throws `CertificateError` for a task or a register that was forged, or is against the policy, or
   * a token that was signed with another key, `BudgetError` if the lifetime limit does not allow the
   * task, and `RequestError` for items where the task is about ratings or the reverse, and for a rating
   * off its scale, all before any draw. At the end it fetches a newer model, if it can.
   * @param {OwnItems} items
   * @returns {Promise<ShuffledOutcome>}
   */
  sync(items) {
    const own = ownItems(items);
    const synced = this.#alone(async () => {
      const open = await this.#openTask();
      /** @type {string[]} */
      const notes = [];
      if (open !== null) {
        checkKind(open.task, own);
        await this.#debited(open.task); // no token for a task that is not allowed
        const signed = await this.#tokens.obtain(open.task, notes);
        if (signed !== null) await this.#answer(open, own, signed);
      }
      const outcome = await this.#send();
      return { ...outcome, notes: [...notes, ...outcome.notes] };
    });
    return synced.then(async (outcome) => {
      await this.#newest().catch(() => {});
      return outcome;
    });
  }

  /**
   * Fetch the model of the last batch that was released, which `sync` does, too. Null if none is
   * published: a list model, or after star ratings an item model. Throws `CertificateError` if the bytes do not match the address,
   * and `DataError` if the model is malformed.
   * @returns {Promise<ItemModel | ListModel | null>}
   */
  async fetchModel() {
    await this.#alone(() => this.#register());
    return this.#newest();
  }

  /**
   * Return the n best items outside of `items`, best first, by the model that was fetched last, empty
   * without one; the first one is fetched. `score` is for ranking only under a list model, and a predicted rating under an
   * item model.
   *
   * `items`: as in `sync`, and ratings by item id for an item model. They stay on the device. Throws
   * `RequestError` for items without ratings under an item model, for a rating off its scale, and
   * without an item that the model has.
   * @param {OwnItems} items
   * @param {number} [n]
   * @returns {Promise<{ item: Item, score: number }[]>}
   */
  async recommend(items, n = 10) {
    integer("n", n, 0);
    const own = ownItems(items);
    const model = this.#released === undefined ? await this.fetchModel() : this.#released && (await this.#models.get(this.#released));
    if (model === null) return [];
    if (isList(model)) {
      return new ListProfile(model, areRatings(own) ? own.keys() : own).recommend(n);
    }
    if (!areRatings(own))
      throw new RequestError('The model predicts ratings; pass ratings by item id, as { 17: "4" }.');
    const { values } = model.scale;
    const ratings = Array.from(own, ([item, rating]) => {
      return /** @type {const} */ ([item, values[levelOf(model.scale, rating)] ?? NaN]);
    });
    return new Profile(model, new Map(ratings)).recommend(n);
  }

  async #newest() {
    return this.#released ? this.#models.fetch(this.#released) : null;
  }

  /** Return the provider's verified open task, null without one that is to be answered. */
  async #openTask() {
    const listed = await this.#register();
    const open = listed?.open.get(this.#provider);
    if (open === undefined) {
      // Participation without data, for the provider to plan with. Nothing depends on it.
      if (listed !== null) await this.#shuffler.post("/v1/ready", new Uint8Array());
      return null;
    }
    const { shuffled } = await this.#store.read();
    if (shuffled.some(({ task }) => task === open)) return null;
    const document = await this.#get(`/v1/tasks/${open}`, shuffledTask.LONGEST);
    if (document === null) return null;
    const task = await this.#work.loads(document, open);
    if (task.provider !== this.#provider || task.shuffler !== this.#shuffler.origin) {
      throw new CertificateError(
        `The shuffled task is of ${task.provider} by ${task.shuffler}, but was received for ` +
          `${this.#provider} from ${this.#shuffler.origin}, so the device sends nothing.`,
      );
    }
    refuseBeyond(this.#policy, task);
    return this.#clock() < task.closes ? { task, document } : null;
  }

  /** Return the register, if it continues the last one; null if it cannot be fetched. */
  async #register() {
    const document = await this.#get("/v1/register", register.LONGEST);
    if (document === null) return null;
    const { head } = await this.#known();
    const listed = await register.loads(document, head);
    if (listed.head !== head) await this.#remember({ head: listed.head });
    const question = this.#provider;
    const address = listed.released.get(question);
    this.#released = address === undefined ? null : { address, question };
    return listed;
  }

  /**
   * @param {{ readonly task: ShuffledTask, readonly document: Shuffled["document"] }} open
   * @param {import("./messages/signs.js").OwnItems} items
   * @param {import("../documents/hashing.js").Bytes} signed token of the task
   */
  async #answer({ task, document }, items, signed) {
    // The debit does not depend on the items, and is made whether or not a batch is released: the
    // shuffler has the bundle in both cases.
    const spent = await this.#debited(task);
    const sealed = await this.#work.sealedBundle(task, items, this.#words);
    const bundle = new Uint8Array(sealed.length + signed.length);
    bundle.set(sealed);
    bundle.set(signed, sealed.length);
    const { address, first, shuffler, closes } = task;
    const row = { task: address, document, first, shuffler, closes, bundle };
    const { tokens } = await this.#store.read();
    await this.#store.commit({
      put: { ledger: [{ self: "lifetime", spent }], shuffled: [row] },
      remove: { tokens: tokens.filter((token) => token.task === address) },
    });
  }

  /**
   * Return epsilon of all draws after those for a task. Throws `BudgetError` beyond the limit.
   * @param {ShuffledTask} task
   */
  async #debited(task) {
    const { ledger, shuffled } = await this.#store.read();
    const before = { limit: this.#limit, spent: ledger[0]?.spent ?? 0n };
    return debit(before, await this.#cost(task, shuffled)).spent;
  }

  /**
   * Return the debit: 0 for the first round that an answered task has announced. Its epsilon was
   * debited with that task, whose certificate covers both.
   * @param {ShuffledTask} task
   * @param {readonly Shuffled[]} answered
   */
  async #cost(task, answered) {
    const first = answered.find((row) => row.task === task.first);
    const isRepeated = task.first !== null && answered.some((row) => row.first === task.first);
    if (first !== undefined && !isRepeated) {
      const before = await this.#work.loads(first.document, first.task);
      if (shuffledTask.isAnnouncedBy(task, before)) return 0n;
    }
    return nano(task.certificate.replaced);
  }

  /** Send pending bundles, unless a backoff is in progress. */
  async #send() {
    /** @type {ShuffledOutcome} */
    const outcome = { stored: 0, givenUp: 0, waiting: 0, again: null, notes: [] };
    const { shuffled } = await this.#store.read();
    const pending = shuffled.filter(({ shuffler }) => shuffler === this.#shuffler.origin);
    outcome.waiting = pending.filter(({ bundle }) => bundle !== null).length;
    for (const { bundle, ...row } of pending) {
      if (bundle === null) continue;
      if ((await this.#again()) !== null) break;
      const answer = await this.#shuffler.post(`/v1/tasks/${row.task}/bundles`, bundle);
      if (await this.#postpones(answer)) break;
      const isSettled = settle(answer.status, this.#clock() >= row.closes, outcome);
      const put = { shuffled: [{ ...row, bundle: null }] };
      if (isSettled) await this.#store.commit({ put });
      if (answer.status === OK) await this.#remember({ attempts: 0, next: 0 });
    }
    outcome.again = await this.#again();
    return outcome;
  }

  /**
   * Return the bytes at a path, null if not found, or if it is too early to retry. Throws `TacitError`
   * for another status.
   * @param {string} path
   * @param {number} longest
   */
  async #get(path, longest) {
    if ((await this.#again()) !== null) return null;
    const answer = await this.#shuffler.get(path, longest);
    if ((await this.#postpones(answer)) || answer.status === UNKNOWN) return null;
    if (answer.status === OK) return answer.body;
    throw new TacitError(
      `The shuffler responded with ${answer.status} instead of a document; try again later.`,
    );
  }

  /** Return the Unix seconds before which not to send requests, null without a backoff. */
  async #again() {
    const [{ next }, now] = [await this.#known(), this.#clock()];
    return now < next && next < now + FORGIVEN ? next : null;
  }

  /**
   * Return whether an answer means "retry later". If so, requests wait.
   * @param {Answer} answer
   */
  async #postpones({ status, retryAfter }) {
    if (!isLater(status)) return false;
    const { attempts } = await this.#known();
    const next = this.#clock() + pause(attempts, retryAfter);
    await this.#remember({ attempts: attempts + 1, next });
    return true;
  }

  /** @returns {Promise<KnownShuffler>} */
  async #known() {
    const { shufflers } = await this.#store.read();
    const known = shufflers.find(({ shuffler }) => shuffler === this.#shuffler.origin);
    const { origin } = this.#shuffler;
    return known ?? { shuffler: origin, head: register.BEGIN, attempts: 0, next: 0 };
  }

  /** @param {Partial<KnownShuffler>} change */
  async #remember(change) {
    const shufflers = [{ ...(await this.#known()), ...change }];
    await this.#store.commit({ put: { shufflers } });
  }
}

/**
 * Record the response to a bundle in `outcome`. Returns whether the bundle is to be deleted.
 * @param {number} status
 * @param {boolean} isClosed
 * @param {ShuffledOutcome} outcome
 */
function settle(status, isClosed, outcome) {
  const isRefused = status !== OK && (status in REFUSED || isClosed);
  if (status !== OK && !isRefused) {
    outcome.notes.push(`A bundle is pending: the shuffler responded with ${status}.`);
    return false;
  }
  outcome.waiting -= 1;
  if (isRefused) {
    const reason = REFUSED[status] ?? REFUSED[CLOSED];
    outcome.givenUp += 1;
    outcome.notes.push(`The bundle was not accepted: ${reason}.`);
  } else {
    outcome.stored += 1;
  }
  return true;
}
