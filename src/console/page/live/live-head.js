/** The head of the wall: counts, the filters, and the words to look out for. */
import { make, setText } from '../dom.js';
import { patternOf } from './highlight.js';

const WORDS_KEY = 'highlight';

export class LiveHead {
  #context;
  #onChange;
  #live = make('button', { type: 'button', class: 'count', 'data-level': 'ok' });
  #slow = make('button', { type: 'button', class: 'count', 'data-level': 'slow' });
  #failed = make('button', { type: 'button', class: 'count', 'data-level': 'failed' });
  #filter = make('input', {
    type: 'search',
    placeholder: 'Filter by words…',
    'aria-label': 'Filter by words',
    autocomplete: 'off',
  });
  #queue = make('select', { 'aria-label': 'Queue' });
  #words = make('input', {
    type: 'text',
    id: 'highlight',
    placeholder: 'cancel*, refund',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  #queues = '';
  /** @type {RegExp | null} */
  #pattern = null;
  element;

  /**
   * @param {import('../view.js').ViewContext} context
   * @param {{ onChange: () => void, onNext: (level: 'live' | 'slow' | 'failed') => void }} wall
   */
  constructor(context, { onChange, onNext }) {
    this.#context = context;
    this.#onChange = onChange;
    this.#live.addEventListener('click', () => onNext('live'));
    this.#slow.addEventListener('click', () => onNext('slow'));
    this.#failed.addEventListener('click', () => onNext('failed'));
    this.#filter.addEventListener('input', () => this.#change());
    this.#queue.addEventListener('change', () => this.#change());
    this.#words.value = context.preferences.recall(WORDS_KEY, '');
    this.#pattern = patternOf(this.#words.value);
    this.#words.addEventListener('change', () => this.#changeWords());
    this.element = make(
      'header',
      { class: 'live-head' },
      make('h2', { id: 'live-heading', tabindex: '-1', 'data-heading': true }, 'Live'),
      make('div', { class: 'counts', role: 'group', 'aria-label': 'Counts' }, this.#live, this.#slow, this.#failed),
      make('div', { class: 'filters' }, this.#filter, this.#queue),
      make('div', { class: 'highlight' }, make('label', { for: 'highlight' }, '⚑ Mark'), this.#words),
    );
    this.showQueues([]);
  }

  /** Words to be marked; null = none. */
  get pattern() {
    return this.#pattern;
  }

  /** @param {import('../view.js').Params} params */
  setParams({ q = '', queue = '' }) {
    if (this.#filter.value !== q) this.#filter.value = q;
    if (queue !== '' && ![...this.#queue.options].some(({ value }) => value === queue))
      this.#queue.append(make('option', { value: queue }, queue));
    this.#queue.value = queue;
  }

  /** @param {import('../calls.js').CallView} call @param {string} words of its card, in lower case */
  passes(call, words) {
    const isOfQueue = this.#queue.value === '' || call.queue === this.#queue.value;
    return (
      isOfQueue &&
      this.#filter.value
        .toLowerCase()
        .split(/\s+/)
        .every((word) => words.includes(word))
    );
  }

  focusFilter() {
    this.#filter.focus();
    this.#filter.select();
  }

  /** @param {{ live: number, slow: number, failed: number }} counts */
  showCounts({ live, slow, failed }) {
    setText(this.#live, `${live} live`);
    setText(this.#slow, `${slow} slow`);
    setText(this.#failed, `${failed} failed`);
    this.#slow.hidden = slow === 0;
    this.#failed.hidden = failed === 0;
  }

  /** @param {readonly string[]} queues of the calls; empty = a call without one */
  showQueues(queues) {
    const names = [...new Set([...queues, this.#queue.value])].filter((name) => name !== '').toSorted();
    const key = names.join('\n');
    if (key === this.#queues && this.#queue.options.length > 0) return;
    this.#queues = key;
    const chosen = this.#queue.value;
    this.#queue.replaceChildren(
      make('option', { value: '' }, 'All queues'),
      ...names.map((name) => make('option', { value: name }, name)),
    );
    this.#queue.value = chosen;
    this.#queue.hidden = names.length === 0;
  }

  #change() {
    this.#context.stay('live', { q: this.#filter.value.trim(), queue: this.#queue.value });
    this.#onChange();
  }

  #changeWords() {
    this.#context.preferences.remember(WORDS_KEY, this.#words.value);
    this.#pattern = patternOf(this.#words.value);
    this.#onChange();
  }
}
