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
