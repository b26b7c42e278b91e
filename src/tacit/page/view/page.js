/** The page: rating, recommendations, consent, sending, ledger, export and erasure. */

import { CatalogueView } from "./catalogue.js";
import { copyEarlier, showOffer } from "./copying.js";
import { breathe, download, fill, fillPlaces, find, look, make, say } from "./dom.js";
import { countDue, historyOf } from "../device/answering/due.js";
import { sentence } from "../device/errors.js";
import { fatesOf } from "./fate.js";
import { ledgerView } from "./ledger.js";
import { nats } from "../device/answering/ledger.js";
import { fetchTask } from "../device/sending/first_task.js";
import { successorFrom } from "../device/sending/moves.js";
import { bestOf, recommendationsView } from "./recommendations.js";
import { SoFarView } from "./sofar.js";
import { hideMove, showMove } from "./moving.js";
import { openDevice } from "./opening.js";
import * as wireTask from "../device/documents/task.js";
import { defineConsent } from "./consent/element.js";
import { OFFER } from "./words/contract.js";
import { DIRECTION, LANGUAGE } from "./words/language.js";
import * as around from "./words/page.js";
import * as words from "./words/sent.js";

/** @typedef {import("../device/documents/task.js").Task} Task */
/** @typedef {import("../device/client.js").Client} Client */
/** @typedef {import("../device/client.js").SyncOutcome} SyncOutcome */
/** @typedef {import("../device/sending/collector.js").Collector} Collector */
/** @typedef {import("../device/store.js").Rows} Rows */

const ENTRIES = 12;

class Page {
  /** @type {import("./recommendations.js").Model | null} */
  #model = null;
  #agreed = false;
  /** @type {CatalogueView | null} */
  #catalogue = null;
  /** @type {import("./consent/element.js").ConsentElement | null} */
  #consent = null;
  #declined = false;
  /** @type {SoFarView | null} */
  #soFar = null;
  #entries = ENTRIES;
  #timer = 0;

  /**
   * @param {Client} client
   * @param {Collector} collector
   * @param {Task} task
   */
  constructor(client, collector, task) {
    this.client = client;
    this.collector = collector;
    this.task = task;
    on("move-yes", () => this.#move());
    on("copy", () => this.#copy());
    on("peek", async () => look("next"));
    on("sync", () => this.#try(() => this.client.sync()));
    on("export", async () => download(await this.client.export(), "tacit-device.json"));
    on("erase", async () => find("erasing", HTMLDialogElement).showModal());
    on("erase-no", async () => find("erasing", HTMLDialogElement).close());
    on("erase-yes", () => this.#erase());
  }

  /** Render the page. For a returning user the sent answers come first. */
  async show() {
    const { task } = this;
    const successor = this.#successor;
    if (successor !== null) return showMove(task, this.collector.origin, successor);
    this.#agreed = await this.client.updateTask(task);
    const rows = await this.client.read();
    const { levels, last } = historyOf(rows, task.question);
    const [owner] = rows.owner;
    say("name", task.name);
    document.title = around.titleInWords(task.name);
    fillPlaces(around.placesInWords(task));
    await breathe();
    this.#catalogue = new CatalogueView(task, levels, (...said) => acted(() => this.#rate(...said)));
    fill("catalogue", this.#catalogue.view);
    this.#consent = null;
    find(last.size > 0 ? "rate" : "reports", HTMLElement).before(find("send", HTMLElement));
    if (owner && !this.#agreed) say("alert", around.ANEW);
    showOffer(rows, this.#agreed);
    find("home", HTMLElement).hidden = false;
    await this.refresh();
    await heard(async () => (this.#model = await this.client.fetchModel(task)));
    await this.refresh();
  }

  /** Origin to which the provider moved, null if it did not or the user agreed to it. */
  get #successor() {
    return successorFrom(this.task, this.collector.origin);
  }

  /** Follow the provider, to whose move the user agreed. */
  async #move() {
    const { client, collector } = await openDevice(this.#successor ?? undefined);
    this.task = await fetchTask(collector);
    Object.assign(this, { client, collector });
    hideMove();
    await this.show();
    find("rate-title", HTMLElement).focus();
    await this.goOn();
  }

  /** Copy the ratings of the earlier question, as the user asked, and show them. */
  async #copy() {
    await copyEarlier(this.client, this.collector, this.task);
    await this.show();
  }

  /** @param {number} place @param {string | null} level */
  async #rate(place, level) {
    await this.client.rate(this.task, this.task.items[place] ?? "", level);
    await this.refresh();
  }

  /** @param {import("./consent/terms.js").Terms} terms that the user chose */
  async #agree(terms) {
    if (this.#agreed) return;
    await this.client.accept(this.task, terms);
    // Without persistence the browser could evict the ledger, and with it the epsilon spent.
    await navigator.storage.persist();
    this.#agreed = true;
    showOffer(await this.client.read(), true);
    await this.refresh();
    find("send-title", HTMLElement).focus();
    await this.#try(() => this.client.sync());
  }

  /** Resend pending reports and erasures, without new answers. */
  async goOn() {
    const { outbox, erasures } = await this.client.read();
    if (outbox.length + erasures.length === 0) return;
    await heard(() => this.#try(() => this.client.resend()));
  }

  /** Update all views from the device's data, except the catalogue. */
  async refresh() {
    if (this.#successor !== null) return;
    const rows = await this.client.read();
    const { levels } = historyOf(rows, this.task.question);
    const best = await this.#recommend(levels);
    await breathe();
    await heard(async () => this.#showSending(rows, best[0]?.title));
  }

  /** @param {ReadonlyMap<number, string>} levels the user's ratings, by catalogue index */
  async #recommend(levels) {
    /** @type {import("./recommendations.js").Best[]} */
    let best = [];
    await heard(async () => {
      best = bestOf(this.task, this.#model, levels);
      await breathe();
      fill("recommendations", recommendationsView(this.task, this.#model, best, levels.size));
    });
    const [first] = best;
    find("peek", HTMLElement).hidden = first === undefined || levels.size === 0;
    if (first) say("peek", around.peekInWords(first.title));
    return best;
  }

  /**
   * @param {Rows} rows
   * @param {string | undefined} first title of the first recommendation
   */
  async #showSending(rows, first) {
    const { task } = this;
    const epoch = wireTask.epoch(task, Date.now() / 1000);
    const due = await countDue(task, rows, epoch);
    const fates = fatesOf(task, rows, epoch);
    const none = historyOf(rows, task.question).last.size === 0;
    this.#catalogue?.update(this.#agreed ? fates : new Map());
    find("reports", HTMLElement).hidden = none;
    const more = () => {
      this.#entries += ENTRIES;
      void this.refresh();
    };
    fill("ledger", ledgerView(task, rows, fates, this.#entries, more));
    find("send", HTMLElement).hidden = !this.#agreed && (due === 0 || this.#declined);
    say("send-title", this.#agreed ? words.SO_FAR : OFFER);
    const waits = rows.outbox.length > 0;
    find("sync", HTMLElement).hidden = !this.#agreed || (due === 0 && !waits);
    say("sync", words.sendInWords(due, waits));
    if (this.#agreed) await this.#showSoFar(rows, first);
    else if (due > 0) this.#showConsent(rows, due);
  }

  /** @param {Rows} rows @param {number} due answers */
  #showConsent({ owner: [owner], ledger: [ledger] }, due) {
    this.#consent ??= this.#consentOf(owner ? nats(owner.limit) : null);
    fill("asked", this.#consent);
    Object.assign(this.#consent, { due, spent: ledger?.spent ?? 0n });
  }

  /** @param {string | null} lifetime limit that the user set for an earlier question */
  #consentOf(lifetime) {
    const made = make(/** @type {"div"} */ ("tacit-consent"), {
      ...{ suggest: true, "adopt-styles": true },
      "tacit-accept": (event) => {
        const { detail } = /** @type {CustomEvent<import("./consent/terms.js").Terms>} */ (event);
        void acted(() => this.#agree(detail));
      },
      "tacit-decline": () => void acted(() => this.#decline()),
    });
    return Object.assign(made, { task: this.task, due: 0, lifetime, spent: 0n });
  }

  /** Leave the question out for the rest of this visit. */
  async #decline() {
    this.#declined = true;
    await this.refresh();
    find("rate-title", HTMLElement).focus();
  }

  /** @param {Rows} rows @param {string | undefined} first */
  async #showSoFar(rows, first) {
    const code = await this.client.referenceCode(this.task);
    this.#soFar ??= new SoFarView(this.task);
    fill("asked", this.#soFar.view);
    this.#soFar.update(rows, first, code);
  }

  /** @param {() => Promise<SyncOutcome>} work */
  async #try(work) {
    clearTimeout(this.#timer);
    find("sync", HTMLButtonElement).setAttribute("aria-disabled", "true");
    say("status", words.BUSY);
    try {
      this.#say(await work());
    } catch (error) {
      say("status", words.NOTHING_SENT);
      throw error;
    } finally {
      find("sync", HTMLButtonElement).removeAttribute("aria-disabled");
      await this.refresh();
    }
  }

  /** @param {SyncOutcome} outcome */
  #say(outcome) {
    const { again, notes } = outcome;
    const seconds = again === null ? 0 : Math.max(1, until(again));
    say("status", words.outcomeInWords(this.task, outcome, seconds));
    say("alert", notes.join(" "));
    if (again !== null) this.#retry(again);
  }

  /** @param {number} again Unix seconds */
  #retry(again) {
    const retry = () => heard(() => this.#try(() => this.client.resend()));
    this.#timer = window.setTimeout(retry, 1000 * until(again) + 50);
  }

  async #erase() {
    clearTimeout(this.#timer);
    const { erased, erasing, again } = await this.client.erase();
    find("erasing", HTMLDialogElement).close();
    const { ledger } = await this.client.read();
    await this.show();
    say("status", "");
    const spent = nats(ledger[0]?.spent ?? 0n);
    say("alert", words.erasedInWords(this.task, spent, erased, erasing));
    if (again !== null) this.#retry(again);
    find("rate-title", HTMLElement).focus();
  }
}

/**
 * Return the seconds from now until a moment.
 * @param {number} moment Unix seconds
 */
function until(moment) {
  return moment - Date.now() / 1000;
}

/**
 * @param {string} id
 * @param {() => Promise<void>} work
 */
function on(id, work) {
  find(id, HTMLButtonElement).addEventListener("click", () => acted(work));
}

/**
 * Clear the alert, then run an action of the user.
 * @param {() => Promise<unknown>} work
 */
function acted(work) {
  say("alert", "");
  return heard(work);
}

/**
 * Run an action and show its error on screen.
 * @param {() => Promise<unknown>} work
 */
async function heard(work) {
  try {
    await work();
  } catch (error) {
    say("alert", sentence(error));
  }
}

/** @returns {Promise<void>} */
async function begin() {
  document.documentElement.lang = LANGUAGE;
  document.documentElement.dir = DIRECTION;
  defineConsent();
  if (!isSecureContext) throw new Error(around.INSECURE);
  const { client, collector } = await openDevice();
  const task = await fetchTask(collector);
  await breathe();
  const page = new Page(client, collector, task);
  await page.show();
  await page.goOn();
}

await begin().catch((error) => say("alert", `${sentence(error)} ${around.NO_TASK}`));
