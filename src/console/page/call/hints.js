/** Advice that came to a call: cards, or what a language model suggests. */
import { copyText } from '../clipboard.js';
import { make, setText } from '../dom.js';

/**
 * @typedef {{ hint: string, title: string, text: string, link: string | null, words: string | null,
 *   source: string }} Hint
 */

export class Hints {
  #context;
  #onSay;
  #list = make('ul', { class: 'hints', 'aria-live': 'polite', 'aria-label': 'Hints' });
  element = make('section', { hidden: true }, make('h3', {}, 'Hints'), this.#list);
  /** @type {Map<string, { element: HTMLElement, shown: string, say: HTMLElement }>} */
  #shown = new Map();
  #isLive = false;

  /** @param {import('../view.js').ViewContext} context @param {(text: string) => void} onSay */
  constructor(context, onSay) {
    this.#context = context;
    this.#onSay = onSay;
  }

  get count() {
    return this.#shown.size;
  }

  clear() {
    this.#shown.clear();
    this.#list.replaceChildren();
    this.element.hidden = true;
  }

  /** @param {boolean} isLive */
  setLive(isLive) {
    this.#isLive = isLive && this.#context.session.may('calls.act');
    for (const { say } of this.#shown.values()) say.hidden = !this.#isLive;
  }

  /** The latest is at the top. @param {ReadonlyMap<string, Hint>} hints */
  show(hints) {
    for (const [name, hint] of hints) {
      const text = JSON.stringify(hint);
      const known = this.#shown.get(name);
      if (known?.shown === text) continue;
      const made = this.#make(hint);
      this.#shown.set(name, { ...made, shown: text });
      if (known === undefined) this.#list.prepend(made.element);
      else known.element.replaceWith(made.element);
    }
    this.element.hidden = this.#shown.size === 0;
  }

  /** @param {Hint} hint */
  #make({ title, text, link, words, source }) {
    const say = make(
      'button',
      { type: 'button', class: 'small', 'aria-label': `Say: ${title}`, onclick: () => this.#onSay(text) },
      'Say…',
    );
    say.hidden = !this.#isLive;
    const copy = make('button', { type: 'button', class: 'small', 'aria-label': `Copy: ${title}` }, 'Copy');
    copy.addEventListener('click', async () => {
      if (await copyText(text)) setText(copy, 'Copied');
      else this.#context.toast('The browser does not let this page copy.', 'problem');
    });
    const element = make(
      'li',
      { class: 'hint-card' },
      make('p', { class: 'hint-title' }, title),
      words === null ? null : make('p', { class: 'hint-words' }, `“${words}”`),
      make('p', {}, text),
      make(
        'div',
        { class: 'row' },
        say,
        copy,
        linkOf(link),
        source === 'model' ? make('span', { class: 'chip' }, 'from a model') : null,
      ),
    );
    return { element, say };
  }
}

/** Only addresses that a browser opens as pages. @param {string | null} link */
function linkOf(link) {
  if (link === null || !/^https?:\/\//i.test(link)) return null;
  return make('a', { href: link, target: '_blank', rel: 'noopener noreferrer' }, 'Open');
}
