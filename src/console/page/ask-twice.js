/** A button for what cannot be taken back: the first press asks, the second does it. */
import { make } from './dom.js';

const ASKED_MS = 4000;

/**
 * @param {{ words: string, question: string, label?: string, attributes?: Record<string, string> }} texts `label` =
 *   what a screen reader adds to the words, such as whose call it is
 * @param {() => void} run @returns {HTMLButtonElement}
 */
export function makeAskTwice({ words, question, label = '', attributes = {} }, run) {
  const shown = make('span', {}, words);
  const button = make('button', { type: 'button', class: 'danger', ...attributes }, shown);
  if (label !== '') button.append(make('span', { class: 'aside' }, ` ${label}`));
  let timer = 0;
  const reset = () => {
    clearTimeout(timer);
    button.dataset['asks'] = 'false';
    shown.textContent = words;
  };
  button.addEventListener('click', () => {
    if (button.dataset['asks'] === 'true') {
      reset();
      run();
      return;
    }
    button.dataset['asks'] = 'true';
    shown.textContent = question;
    timer = setTimeout(reset, ASKED_MS);
  });
  button.addEventListener('blur', reset);
  return button;
}
