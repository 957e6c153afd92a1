/** Finds words in a call, and says whose words are shown. */
import { make, setText } from '../dom.js';

/**
 * @typedef {import('./call-log.js').CallLog} CallLog
 * @typedef {import('./transcript.js').Transcript} Transcript
 */

const SIDES = /** @type {const} */ ([
  ['customer', 'Caller'],
  ['agent', 'Agent'],
  ['prompts', 'Prompts'],
  ['steps', 'Steps'],
]);
const HIGHLIGHT = 'found';

export class FindBar {
  #transcript;
  /** @type {CallLog | null} */
  #log = null;
  #input = make('input', {
    type: 'search',
    placeholder: 'Find in call…',
    'aria-label': 'Find in call',
    autocomplete: 'off',
  });
  #count = make('span', { class: 'find-count', role: 'status' });
  #previous = make('button', { type: 'button', 'aria-label': 'Previous', onclick: () => this.#step(-1) }, '↑');
  #next = make('button', { type: 'button', 'aria-label': 'Next', onclick: () => this.#step(1) }, '↓');
  #boxes = SIDES.map(([side, words]) => ({
    side,
    box: make('input', { type: 'checkbox', checked: true, onchange: () => this.#filter() }),
    words,
  }));
  #labels = this.#boxes.map(({ side, box, words }) => make('label', { hidden: side === 'steps' }, box, words));
  element = make(
    'div',
    { class: 'find', role: 'search' },
    this.#input,
    this.#previous,
    this.#next,
    this.#count,
    make('fieldset', { class: 'sides' }, make('legend', { class: 'aside' }, 'Whose words are shown'), ...this.#labels),
  );
  /** Keys of the items that hold the words. @type {string[]} */
  #found = [];
  #at = -1;

  /** @param {Transcript} transcript */
  constructor(transcript) {
    this.#transcript = transcript;
    this.#input.addEventListener('input', () => this.#search());
    this.#input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.isComposing) return;
      event.preventDefault();
      this.#step(event.shiftKey ? -1 : 1);
    });
    this.#show();
  }

  /** @param {CallLog} log */
  clear(log) {
    this.#log = log;
    this.#input.value = '';
    this.#offerSteps();
    this.#search();
  }

  focus() {
    this.#input.focus();
    this.#input.select();
  }

  /** Only calls with a flow have steps. */
  #offerSteps() {
    const hasSteps = this.#log?.items.some((item) => this.#log?.sideOf(item) === 'steps') === true;
    this.#labels.forEach((label, at) => {
      label.hidden = this.#boxes[at]?.side === 'steps' && !hasSteps;
    });
  }

  /** Looks again, where the call has gone on. */
  refresh() {
    this.#offerSteps();
    if (this.#input.value.trim() === '') return;
    const key = this.#found[this.#at];
    if (key === undefined) {
      // Nothing was found so far: perhaps the words were typed before the call was there.
      this.#search();
      return;
    }
    this.#find();
    this.#at = this.#found.indexOf(key);
    this.#show();
  }

  #search() {
    this.#find();
    this.#at = -1;
    if (this.#found.length > 0) this.#step(1);
    else this.#show();
  }

  #find() {
    const text = this.#input.value.trim();
    const words = text.toLowerCase();
    const hidden = this.hiddenSides;
    this.#found =
      words === '' || this.#log === null
        ? []
        : this.#log.items
            .filter((item) => !hidden.includes(this.#log?.sideOf(item) ?? ''))
            .filter((item) => item.text.toLowerCase().includes(words))
            .map(({ key }) => key);
    this.#paint(words);
  }

  /** Marks the words in all paragraphs; browsers that cannot mark the paragraph alone. @param {string} words */
  #paint(words) {
    if (!('highlights' in CSS)) return;
    const ranges = this.#found.flatMap((key) => rangesOf(this.#transcript.elementOf(key), words));
    if (ranges.length === 0) CSS.highlights.delete(HIGHLIGHT);
    else CSS.highlights.set(HIGHLIGHT, new Highlight(...ranges));
  }

  /** @param {1 | -1} steps */
  #step(steps) {
    if (this.#found.length === 0) return;
    this.#at =
      this.#at < 0 && steps < 0 ? this.#found.length - 1 : (this.#at + steps + this.#found.length) % this.#found.length;
    this.#transcript.mark(this.#found[this.#at] ?? '');
    this.#show();
  }

  #show() {
    const isEmpty = this.#input.value.trim() === '';
    setText(
      this.#count,
      isEmpty ? '' : this.#found.length === 0 ? 'not found' : `${this.#at + 1} of ${this.#found.length}`,
    );
    this.#previous.disabled = this.#found.length === 0;
    this.#next.disabled = this.#found.length === 0;
  }

  /** @returns {string[]} */
  get hiddenSides() {
    return this.#boxes.filter(({ box }) => !box.checked).map(({ side }) => side);
  }

  #filter() {
    this.#transcript.filter(this.hiddenSides);
    this.refresh();
  }
}

/** @param {HTMLElement | undefined} element @param {string} words in lower case @returns {Range[]} */
function rangesOf(element, words) {
  if (element === undefined) return [];
  const ranges = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = (node.textContent ?? '').toLowerCase();
    for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + words.length);
      ranges.push(range);
    }
  }
  return ranges;
}
