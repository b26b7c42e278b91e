/**
 * DOM helpers: elements, updates of index.html, and downloads. Strings are inserted as text
 * nodes, so that no title is interpreted as markup.
 */

/** @typedef {Node | string} Child */
/** @typedef {string | boolean | ((event: Event) => void)} Attribute */
/** @typedef {{ readonly [name: string]: Attribute }} Attributes */

/**
 * Create an element with attributes (true: present, false: absent, a function: a listener) and
 * children.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (typeof value === "string") made.setAttribute(name, value);
    else made.toggleAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/**
 * Return the element of index.html with that id.
 * @template {typeof HTMLElement} Kind
 * @param {string} id
 * @param {Kind} kind
 * @returns {InstanceType<Kind>}
 */
export function find(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`index.html has no ${kind.name} #${id}.`);
  return /** @type {InstanceType<Kind>} */ (found);
}

// Updates of the elements of index.html: text, content and focus.

/**
 * @param {string} id
 * @param {string} text
 */
export function say(id, text) {
  find(id, HTMLElement).textContent = text;
}

/**
 * @param {string} id
 * @param {HTMLElement} view
 */
export function fill(id, view) {
  const place = find(id, HTMLElement);
  if (place.firstChild !== view) place.replaceChildren(view);
}

/** Scroll to an element and focus it. @param {string} id */
export function look(id) {
  const place = find(id, HTMLElement);
  place.scrollIntoView({ block: "start" });
  place.focus({ preventScroll: true });
}

/**
 * Set the text of all elements of index.html with a `data-text` attribute.
 * @param {{ readonly [name: string]: string }} texts by the value of the attribute
 */
export function fillPlaces(texts) {
  const places = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-text]"));
  for (const place of places) place.textContent = texts[place.dataset["text"] ?? ""] ?? "";
}

/**
 * Yield to the browser, so that it can render and handle input during long computations.
 * @returns {Promise<void>}
 */
export function breathe() {
  return new Promise((go) => setTimeout(go));
}

// File downloads.

/**
 * Download text as a file.
 * @param {string} text
 * @param {string} name
 */
export function download(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
