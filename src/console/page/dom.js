/** What the parts of the page share in handling the document. */

/** The element of the page with this id. @param {string} id @returns {HTMLElement} */
export function part(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}

/**
 * Changing a text that is the same already would make screen readers read it again. @param {Element} element @param
 * {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * @typedef {string | number | boolean | null | undefined} AttributeValue
 * @typedef {Node | string | null} Child
 */

/**
 * A new element. Attributes that are null, undefined or false are left out, `true` is an empty one; `onclick` and its
 * like are functions that listen. Children that are strings become text, never markup.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Readonly<Record<string, AttributeValue | ((event: any) => void)>>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.replace(/^on/, ''), value);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Whether keys that somebody presses go into `target` as text. @param {EventTarget | null} target */
export function takesText(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button', 'range'].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}
