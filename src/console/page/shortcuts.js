/** Keys that work while nobody types, and the help that lists them. */
import { make, part, takesText } from './dom.js';

/** @typedef {import('./view.js').Shortcut} Shortcut */

/** How keys are called whose name is not what is on them. */
const KEY_NAMES = new Map([
  ['Escape', 'Esc'],
  ['ArrowLeft', '← ↑ → ↓'],
]);

export class Shortcuts {
  /** @type {readonly Shortcut[]} */
  #general = [];
  /** @type {readonly Shortcut[]} */
  #ofView = [];
  #dialog = /** @type {HTMLDialogElement} */ (part('help'));

  /** @param {readonly Shortcut[]} general those that work in every view */
  constructor(general) {
    this.#general = [...general, { keys: '?', words: 'This help', run: () => this.showHelp() }];
    addEventListener('keydown', (event) => this.#press(event));
  }

  /** @param {readonly Shortcut[]} shortcuts the keys of the view that is shown */
  setView(shortcuts) {
    this.#ofView = shortcuts;
  }

  showHelp() {
    const list = part('help-keys');
    const row = (/** @type {Shortcut} */ { keys, words }) => [
      make('dt', {}, make('kbd', {}, KEY_NAMES.get(keys) ?? keys)),
      make('dd', {}, words),
    ];
    list.replaceChildren(...[...this.#ofView, ...this.#general].flatMap(row));
    this.#dialog.showModal();
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (takesText(event.target)) {
      if (event.key === 'Escape' && event.target instanceof HTMLElement) event.target.blur();
      return;
    }
    if (document.querySelector('dialog[open]') !== null) return;
    if (event.key === 'Enter' && isPressable(event.target)) return;
    const shortcut = [...this.#ofView, ...this.#general].find(({ keys }) => keys === event.key);
    if (shortcut === undefined) return;
    if (event.key !== 'Escape') event.preventDefault();
    shortcut.run(event);
  }
}

/** Whether Enter does something of its own there. @param {EventTarget | null} target */
function isPressable(target) {
  return target instanceof Element && target.closest('a[href], button, summary') !== null;
}
