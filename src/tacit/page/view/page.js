/** The page: reads the task and lets the person agree, rate, send, see, export and erase. */

import { budgetView } from "./budget.js";
import { CatalogueView } from "./catalogue.js";
import { Client } from "../device/client.js";
import { Collector } from "../device/sending/collector.js";
import { find } from "./dom.js";
import { pastOf } from "../device/answering/due.js";
import { sentence } from "../device/errors.js";
import { download } from "./download.js";
import { ledgerView } from "./ledger.js";
import { nats } from "../device/answering/ledger.js";
import { fetchModel } from "../device/recommending/published_model.js";
import { recommendationsView } from "./recommendations.js";
import { openStore } from "../device/store.js";
import * as wireTask from "../device/documents/task.js";
import { modestTerms, questionView, termsForm } from "./terms.js";
import { reword, vocabulary } from "./vocabulary.js";
import { count, duration, erasedInWords, together } from "./words.js";

/** @typedef {import("../device/documents/task.js").Task} Task */
/** @typedef {import("../device/client.js").SyncOutcome} SyncOutcome */

const ENTRIES = 12;

class Page {
  /** @type {import("./recommendations.js").Model | null} */
  #model = null;
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
    on("sync", () => this.#try(() => this.client.sync()));
    on("export", async () => download(await this.client.export(), "tacit-device.json"));
    on("erase", async () => find("erasing", HTMLDialogElement).showModal());
    on("erase-no", async () => find("erasing", HTMLDialogElement).close());
    on("erase-yes", () => this.#erase());
  }

  /** The terms until the person has agreed to this task, and everything else from then on. */
  async show() {
    const { task } = this;
    find("name", HTMLElement).textContent = task.name;
    const worded = document.querySelectorAll("[data-there]");
    reword(task, /** @type {NodeListOf<HTMLElement>} */ (worded));
    document.title = `${task.name} – Tacit`;
    const agreed = await this.client.meet(task);
    const [owner] = (await this.client.read()).owner;
    find("terms", HTMLElement).hidden = agreed;
    find("home", HTMLElement).hidden = !agreed;
    find(agreed ? "agreed" : "question", HTMLElement).replaceChildren(questionView(task));
    if (agreed) return this.#open();
    const terms = owner
      ? { mostEpsilon: owner.maximum, lifetime: nats(owner.limit) }
      : modestTerms(task);
    const form = termsForm(task, terms, "Start", (chosen) => acted(() => this.#agree(chosen)));
    fill("agree", form);
    if (owner)
      say("alert", "The provider asks something else now. Read it, and agree if you will.");
  }

  /** @param {import("./terms.js").Terms} terms */
  async #agree(terms) {
    await this.client.enrol(this.task, terms);
    // A ledger that the browser may clear to make room would forget what was spent.
    await navigator.storage.persist();
    await this.show();
    find("search", HTMLInputElement).focus();
  }

  async #open() {
    const rows = await this.client.read();
    const { levels } = pastOf(rows, this.task.question);
    const rated = (/** @type {number} */ place, /** @type {string | null} */ level) =>
      acted(async () => {
        await this.client.rate(this.task, this.task.items[place] ?? "", level);
        await this.refresh();
      });
    fill("catalogue", new CatalogueView(this.task, levels, rated).view);
    await this.refresh();
    await heard(async () => (this.#model = await fetchModel(this.collector, this.task)));
    await this.refresh();
  }

  /** What was sent and nobody took yet goes on trying, erasures too; nothing new is answered. */
  async goOn() {
    const { outbox, erasures } = await this.client.read();
    if (outbox.length + erasures.length === 0) return;
    await heard(() => this.#try(() => this.client.resend()));
  }

  /** Draws all that follows from what the device holds; the list to rate in is left as it is. */
  async refresh() {
    const rows = await this.client.read();
    const [owner] = rows.owner;
    if (owner === undefined) return;
    const more = () => {
      this.#entries += ENTRIES;
      void this.refresh();
    };
    fill("budget", budgetView(this.task, owner, rows.ledger[0]?.spent ?? 0n));
    fill("ledger", ledgerView(this.task, rows, this.#entries, more));
    const { levels } = pastOf(rows, this.task.question);
    await heard(async () =>
      fill("recommendations", recommendationsView(this.task, this.#model, levels)),
    );
  }

  /** @param {() => Promise<SyncOutcome>} work */
  async #try(work) {
    clearTimeout(this.#timer);
    find("sync", HTMLButtonElement).setAttribute("aria-disabled", "true");
    say("status", "Answering …");
    try {
      await this.#say(await work());
    } catch (error) {
      say("status", "Nothing was sent.");
      throw error;
    } finally {
      find("sync", HTMLButtonElement).removeAttribute("aria-disabled");
      await this.refresh();
    }
  }

  /** @param {SyncOutcome} outcome */
  async #say({ stored, givenUp, late, waiting, again, refused, erasing, notes }) {
    const said = [];
    if (erasing > 0)
      said.push("The provider has not said yet that it erased what it was asked to erase.");
    if (stored > 0) said.push(`${count(stored, "report")} sent and stored.`);
    if (stored === 0 && givenUp === 0 && waiting === 0 && erasing === 0)
      said.push("Nothing new to answer in this period.");
    if (refused > 0)
      said.push(`${count(refused, vocabulary(this.task).noun)} not answered: your lifetime limit allows no more.`);
    if (late > 0) said.push(`${count(late, "report")} became too old to be taken.`);
    if (again === null && waiting > 0)
      said.push(`${count(waiting, "report")} kept on this device.`);
    if (again !== null) {
      said.push(
        "The collector does not take answers just now; the next attempt, with the same bytes, " +
          `is in ${duration(Math.max(1, until(again)))}.`,
      );
      this.#retry(again);
    }
    say("status", said.join(" "));
    say("alert", notes.join(" "));
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
    const spent = `${nats(ledger[0]?.spent ?? 0n)} ${together(this.task)}`;
    const kept = `Erased. Only the epsilon you have spent is kept: ${spent}.`;
    say("alert", [kept, ...erasedInWords(erased, erasing)].join(" "));
    if (again !== null) this.#retry(again);
    find("maximum", HTMLInputElement).focus();
  }
}

/**
 * Seconds from now.
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
 * Runs what the person asked for, once the alert about their last action is cleared.
 * @param {() => Promise<unknown>} work
 */
function acted(work) {
  say("alert", "");
  return heard(work);
}

/**
 * What goes wrong in it is said on screen.
 * @param {() => Promise<unknown>} work
 */
async function heard(work) {
  try {
    await work();
  } catch (error) {
    say("alert", sentence(error));
  }
}

/**
 * @param {"alert" | "status"} place
 * @param {string} text
 */
function say(place, text) {
  find(place, HTMLElement).textContent = text;
}

/**
 * @param {string} id
 * @param {HTMLElement} view
 */
function fill(id, view) {
  find(id, HTMLElement).replaceChildren(view);
}

/**
 * Takes the enrolment token out of the address, where it would stay in the history.
 * @param {Client} client
 */
async function admit(client) {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return;
  await client.admit(token);
  history.replaceState(null, "", location.pathname);
}

/** @returns {Promise<void>} */
async function begin() {
  if (!isSecureContext) {
    throw new Error("This page needs a secure connection (https) to keep and hash anything.");
  }
  const collector = new Collector();
  const client = new Client({ store: await openStore(), collector });
  await admit(client);
  const address = await collector.firstTask();
  const task = await wireTask.loads(await collector.task(address), address);
  const page = new Page(client, collector, task);
  await page.show();
  await page.goOn();
}

await begin().catch((error) => say("alert", `${sentence(error)} Nothing can be sent.`));
