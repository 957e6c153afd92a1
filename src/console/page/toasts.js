/** Short messages that tell what was done or what failed. They go by themselves; a pointer on them keeps them. */
import { make } from './dom.js';

const DONE_MS = 4000;
/** What failed has to be read. */
const PROBLEM_MS = 12_000;
const SHOWN_MAX = 4;

export class Toasts {
  /** @type {HTMLElement} */
  #region;

  /** @param {HTMLElement} region a polite live region */
  constructor(region) {
    this.#region = region;
  }

  /** @param {string} words @param {'done' | 'problem'} [kind] */
  show(words, kind = 'done') {
    this.#forget(words);
    const close = make('button', { type: 'button', class: 'plain', 'aria-label': `Close: ${words}` }, '×');
    const toast = make('div', { class: 'toast', 'data-kind': kind }, make('p', {}, words), close);
    close.addEventListener('click', () => toast.remove());
    this.#region.append(toast);
    while (this.#region.childElementCount > SHOWN_MAX) this.#region.firstElementChild?.remove();
    this.#leave(toast, kind === 'done' ? DONE_MS : PROBLEM_MS);
  }

  /** What is told again takes the place of what was told. @param {string} words */
  #forget(words) {
    for (const toast of this.#region.children) if (toast.querySelector('p')?.textContent === words) toast.remove();
  }

  /** @param {HTMLElement} toast @param {number} afterMs */
  #leave(toast, afterMs) {
    setTimeout(() => {
      if (toast.matches(':hover, :focus-within')) this.#leave(toast, DONE_MS);
      else toast.remove();
    }, afterMs);
  }
}
