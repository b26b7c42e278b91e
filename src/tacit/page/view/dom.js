/** DOM helpers. Strings are inserted as text nodes, so that no title is interpreted as markup. */

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
