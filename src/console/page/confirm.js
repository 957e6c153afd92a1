/** Asks before something that cannot be taken back. */
import { make } from './dom.js';

/**
 * Resolves with whether it was confirmed; the focus goes back to where it was. `deed` is on the button that does it.
 * @param {{ title: string, words: string, deed: string }} question @returns {Promise<boolean>}
 */
export function askToConfirm({ title, words, deed }) {
  return new Promise((resolve) => {
    const dialog = make(
      'dialog',
      { class: 'dialog confirm', 'aria-labelledby': 'confirm-title', 'aria-describedby': 'confirm-words' },
      make('h2', { id: 'confirm-title' }, title),
      make('p', { id: 'confirm-words' }, words),
      make(
        'form',
        { method: 'dialog', class: 'confirm-buttons' },
        make('button', { value: 'no' }, 'Keep'),
        make('button', { value: 'yes', class: 'danger' }, deed),
      ),
    );
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
