/**
 * The element `<tacit-consent>`: who asks, what becomes public, and the user's two limits.
 *
 * It is unstyled: a site styles its parts, or has it adopt the page's style sheets. It sends nothing
 * and stores nothing: the site hands the chosen terms to `client.accept`. Importing this module has no
 * effect, so a server can render the element, which is empty until `defineConsent` runs in a browser.
 */

import { integer, mustBe, mustBeTask } from "../../device/arguments.js";
import { make } from "../dom.js";
import { TermsView } from "./terms.js";
import { DIRECTION, LANGUAGE } from "../words/language.js";

/** @typedef {import("../../device/documents/task.js").Task} Task */
/**
 * `task`: the task to agree to. `due`: the number of answers that are sent first. The element is empty
 * without one of them. `lifetime`: the limit that the user set before, in nats. `spent`: what earlier
 * reports have spent of it, in nano-epsilon.
 * @typedef {HTMLElement & { task: Task | null, due: number | null, lifetime: string | null,
 *   spent: bigint }} ConsentElement
 */

const NAME = "tacit-consent";
const PROPERTIES = ["task", "due", "lifetime", "spent"];

/**
 * Define the element `<tacit-consent>`, once.
 *
 * Its attributes: `suggest` preselects the middle noise level and a modest lifetime limit, which have
 * no default otherwise. `adopt-styles` applies the page's style sheets to its contents. `place`: the
 * collector's origin and path, where it is not the page's. Its events, which bubble: `tacit-accept`, whose `detail` is the second argument of `client.accept`, and `tacit-decline`. Its
 * slots: `before` and `after` the form.
 */
export function defineConsent() {
  if (customElements.get(NAME) !== undefined) return;
  customElements.define(
    NAME,
    class extends HTMLElement {
      /** @type {Task | null} */
      #task = null;
      /** @type {number | null} */
      #due = null;
      /** @type {string | null} */
      #lifetime = null;
      #spent = 0n;
      /** @type {TermsView | null} */
      #terms = null;

      get task() {
        return this.#task;
      }

      set task(task) {
        this.#task = task === null ? null : mustBeTask(task);
        this.#terms = null;
        this.#render();
      }

      get due() {
        return this.#due;
      }

      set due(due) {
        this.#due = due === null ? null : integer("due", due, 0);
        this.#render();
      }

      get lifetime() {
        return this.#lifetime;
      }

      set lifetime(lifetime) {
        this.#lifetime = lifetime;
        this.#terms = null;
        this.#render();
      }

      get spent() {
        return this.#spent;
      }

      set spent(spent) {
        if (spent === this.#spent) return; // what the user has chosen remains
        this.#spent = mustBe("bigint", spent, "an amount of nano-epsilon", "write it as in 0n");
        this.#terms = null;
        this.#render();
      }

      connectedCallback() {
        // A framework may have set properties before the element was defined, which hide its own.
        for (const name of PROPERTIES) {
          const known = Object.getOwnPropertyDescriptor(this, name);
          if (known === undefined) continue;
          Reflect.deleteProperty(this, name);
          Reflect.set(this, name, known.value);
        }
        this.#render();
      }

      #render() {
        const [task, due] = [this.#task, this.#due];
        if (task === null || due === null || !this.isConnected) return;
        this.#terms ??= this.#show(task);
        this.#terms.update(due);
      }

      /** @param {Task} task */
      #show(task) {
        const offer = {
          lifetime: this.#lifetime,
          spent: this.#spent,
          suggests: this.hasAttribute("suggest"),
          place: this.getAttribute("place") ?? "",
        };
        const terms = new TermsView(
          task,
          offer,
          (detail) => this.#say("tacit-accept", detail),
          () => this.#say("tacit-decline", null),
        );
        const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
        const [before, after] = [make("slot", { name: "before" }), make("slot", { name: "after" })];
        const form = make("div", { lang: LANGUAGE, dir: DIRECTION }, before, terms.view, after);
        if (this.hasAttribute("adopt-styles")) root.adoptedStyleSheets = [pageStyles()];
        root.replaceChildren(form);
        return terms;
      }

      /**
       * @param {string} name
       * @param {import("./terms.js").Terms | null} detail
       */
      #say(name, detail) {
        this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
      }
    },
  );
}

/** Return a copy of the page's style sheets, which do not apply to contents of an element. */
function pageStyles() {
  const copy = new CSSStyleSheet();
  for (const rule of [...document.styleSheets].flatMap(rulesOf))
    if (!(rule instanceof CSSImportRule)) copy.insertRule(rule.cssText, copy.cssRules.length);
  return copy;
}

/** @param {CSSStyleSheet} sheet */
function rulesOf(sheet) {
  try {
    return [...sheet.cssRules];
  } catch {
    return []; // that of another origin cannot be read
  }
}
