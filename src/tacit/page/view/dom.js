/** Elements, made from values; text is text, so that no title can become markup. */

/** @typedef {Node | string} Child */
/** @typedef {string | boolean | ((event: Event) => void)} Attribute */
/** @typedef {{ readonly [name: string]: Attribute }} Attributes */

/**
 * An element with attributes (true: present, false: left out; a function: a listener) and children.
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
 * The element of that id, which index.html has.
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
