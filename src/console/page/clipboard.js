/** Copying, also where a page may not use the clipboard's interface: over http from another machine. */
import { make } from './dom.js';

/** @param {string} text @returns {Promise<boolean>} whether it is copied */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** @param {string} text @returns {boolean} */
function copyBySelection(text) {
  const field = make('textarea', { class: 'aside', 'aria-hidden': 'true', tabindex: '-1' });
  const focused = document.activeElement;
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return isCopied;
}
