/**
 * What was said in a call as paragraphs in the order of their beginning, below them what is being said right now. It
 * follows the newest unless the reader has scrolled up. Paragraphs lie in blocks that a browser leaves out of its
 * layout while they are out of sight, so that a call of hours costs little more than a short one.
 */
import { formatTime, nameSpeaker, nameSpoken } from '../calls.js';
import { make, setText } from '../dom.js';
import { addressOf } from '../router.js';

/**
 * @typedef {import('./call-log.js').Item} Item
 * @typedef {import('./call-log.js').CallLog} CallLog
 * @typedef {import('../calls.js').CallView} CallView
 */

/** Nearer to the end than this, the reader is taken to read along. */
const END_PX = 48;
const BLOCK_PARAGRAPHS = 40;

export class Transcript {
  #pane = make('section', { id: 'pane', class: 'pane', 'aria-label': 'Transcript', tabindex: '0' });
  #finals = make('div', {
    id: 'finals',
    role: 'log',
    'aria-live': 'polite',
    'aria-relevant': 'additions',
    'aria-label': 'What was said',
  });
  #pending = make('div', { id: 'pending', 'aria-live': 'off' });
  #quiet = make('p', { id: 'quiet', class: 'hint', hidden: true });
  #newest = make('button', { id: 'newest', class: 'strong newest', type: 'button', hidden: true });
  element = make('div', { class: 'transcript' }, this.#pane, this.#newest);
  /** @type {Map<string, HTMLElement>} */
  #shown = new Map();
  /** @type {Map<string, { element: HTMLElement, stable: HTMLElement, tail: HTMLElement, utterance: number }>} */
  #speaking = new Map();
  /** @type {CallLog | null} */
  #log = null;
  /** @type {CallView | undefined} */
  #call;
  #following = true;
  #unread = 0;
  #onMoment;

  /** @param {(ms: number) => void} onMoment called when somebody presses the time of a paragraph */
  constructor(onMoment) {
    this.#onMoment = onMoment;
    this.#pane.append(this.#finals, this.#pending, this.#quiet);
    this.#pane.addEventListener('scroll', () => this.#noteScroll(), { passive: true });
    this.#pane.addEventListener('click', (event) => this.#press(event));
    this.#newest.addEventListener('click', () => this.#goToNewest());
    new ResizeObserver(() => this.#keepUp()).observe(this.#pane);
  }

  get isEmpty() {
    return this.#shown.size === 0 && this.#speaking.size === 0;
  }

  /** Begins with another call. @param {CallLog} log */
  clear(log) {
    this.#log = log;
    this.#finals.replaceChildren();
    this.#pending.replaceChildren();
    this.#shown.clear();
    this.#speaking.clear();
    this.#following = true;
    this.#showButton();
  }

  /** Who talks may be known later than what was said. @param {CallView | undefined} call */
  setCall(call) {
    const before = this.#call;
    this.#call = call;
    const isSame = before?.id === call?.id;
    const named = (/** @type {CallView | undefined} */ view) =>
      [nameSpeaker(view, 'inbound'), nameSpeaker(view, 'outbound'), nameSpoken(view)].join('\n');
    if (isSame && named(before) === named(call)) return;
    for (const [key, element] of this.#shown) this.#nameParagraph(element, key);
  }

  /** @param {string} words why nothing is shown; empty = something is */
  explain(words) {
    setText(this.#quiet, words);
    this.#quiet.hidden = words === '';
  }

  /**
   * Brings the paragraphs of these items in line with the log. @param {readonly string[]} keys @param {boolean} aloud
   * whether a screen reader reads out what is new
   */
  update(keys, aloud) {
    if (keys.length === 0) return;
    const change = () => {
      for (const key of keys) this.#updateOne(key);
    };
    const isRevised = keys.some((key) => this.#shown.has(key));
    if (aloud && !isRevised) change();
    else this.#quietly(change);
    this.#keepUp();
  }

  /** Shows all that the log has, where nothing was shown before. */
  showAll() {
    this.#quietly(() => {
      this.#finals.replaceChildren();
      this.#shown.clear();
      for (const item of this.#log?.items ?? []) this.#lastBlock().append(this.#makeParagraph(item));
    });
    for (const track of this.#log?.partials.keys() ?? []) this.#showPartial(track);
    this.#keepUp();
  }

  /** @param {string} key */
  #updateOne(key) {
    if (key.startsWith('partial ')) return this.#showPartial(key.slice('partial '.length));
    const item = this.#log?.get(key);
    const shown = this.#shown.get(key);
    if (item === undefined) {
      shown?.remove();
      this.#shown.delete(key);
    } else if (shown !== undefined && Number(shown.dataset['startMs']) === item.startMs) this.#fill(shown, item, true);
    else {
      shown?.remove();
      this.#insert(item);
    }
  }

  /** @param {Item} item */
  #insert(item) {
    const element = this.#makeParagraph(item);
    const next = this.#elementAfter(item);
    if (next === null) this.#lastBlock().append(element);
    else next.before(element);
    if (!this.#following) this.#unread += 1;
  }

  /** @param {Item} item */
  #makeParagraph(item) {
    const element = make('div', { 'data-key': item.key, 'data-start-ms': item.startMs });
    this.#fill(element, item, false);
    this.#shown.set(item.key, element);
    return element;
  }

  /** The shown paragraph that comes next; null = it is the last. @param {Item} item @returns {HTMLElement | null} */
  #elementAfter(item) {
    const items = this.#log?.items ?? [];
    for (let at = items.lastIndexOf(item) + 1; at < items.length; at++) {
      const next = this.#shown.get(items[at]?.key ?? '');
      if (next !== undefined) return next;
    }
    return null;
  }

  #lastBlock() {
    const last = this.#finals.lastElementChild;
    if (last !== null && last.childElementCount < BLOCK_PARAGRAPHS) return last;
    const block = make('div', { class: 'block' });
    this.#finals.append(block);
    return block;
  }

  /** @param {HTMLElement} element @param {Item} item @param {boolean} isRevised */
  #fill(element, item, isRevised) {
    element.className =
      item.kind === 'said' || item.kind === 'spoken' ? 'caption' : item.kind === 'note' ? 'note written' : 'note';
    element.classList.toggle('background', item.background);
    element.dataset['track'] = item.track;
    element.dataset['side'] = this.#log?.sideOf(item) ?? '';
    const time = make(
      'a',
      {
        class: 'at',
        href: addressOf('calls', { id: this.#call?.id ?? '', at: String(Math.round(item.startMs)) }),
        tabindex: '-1',
        'data-at': item.startMs,
      },
      formatTime(item.startMs),
    );
    const who = this.#nameItem(item);
    const name = who === '' ? null : make('span', { class: 'track' }, who);
    element.replaceChildren(
      make('span', { class: 'who' }, time, ' ', name, name === null ? null : ' '),
      ...wordsOf(item, isRevised),
    );
  }

  /** @param {HTMLElement} element @param {string} key */
  #nameParagraph(element, key) {
    const item = this.#log?.get(key);
    if (item !== undefined) this.#fill(element, item, false);
  }

  /** @param {Item} item @returns {string} */
  #nameItem(item) {
    const { kind, track, author } = item;
    if (kind === 'said' && this.#log?.sideOf(item) === 'prompts') return 'Prompt';
    if (kind === 'said' || kind === 'gap') return nameSpeaker(this.#call, track);
    if (kind === 'spoken') return nameSpoken(this.#call);
    return kind === 'note' ? author : '';
  }

  /** @param {string} track */
  #showPartial(track) {
    const partial = this.#log?.partials.get(track);
    const speaking = this.#speaking.get(track);
    if (partial !== undefined && speaking?.utterance === partial.utterance) {
      speaking.stable.textContent = partial.stable;
      speaking.tail.textContent = partial.tail;
      return;
    }
    speaking?.element.remove();
    this.#speaking.delete(track);
    if (partial === undefined) return;
    const stable = make('span', { class: 'stable' }, partial.stable);
    const tail = make('span', { class: 'tail' }, partial.tail);
    const element = make(
      'div',
      { class: 'caption', 'data-track': track },
      make(
        'span',
        { class: 'who' },
        make('span', { class: 'at' }, formatTime(partial.startMs)),
        ' ',
        make('span', { class: 'track' }, nameSpeaker(this.#call, track)),
        ' ',
      ),
      make('span', { class: 'words', dir: 'auto' }, stable, tail),
    );
    this.#pending.append(element);
    this.#speaking.set(track, { element, stable, tail, utterance: partial.utterance });
  }

  /** Changes paragraphs without a screen reader reading them out. @param {() => void} change */
  #quietly(change) {
    this.#finals.setAttribute('aria-live', 'off');
    change();
    requestAnimationFrame(() => this.#finals.setAttribute('aria-live', 'polite'));
  }

  /** Shows which sides are read. @param {readonly string[]} hidden sides that are left out */
  filter(hidden) {
    this.#pane.dataset['hides'] = hidden.join(' ');
    this.#keepUp();
  }

  /** Brings a paragraph into sight and marks it. @param {string} key */
  mark(key) {
    this.#pane.querySelector('[data-here]')?.removeAttribute('data-here');
    const element = this.#shown.get(key);
    if (element === undefined) return;
    element.dataset['here'] = 'true';
    this.#following = false;
    element.scrollIntoView({ block: 'center' });
    // What was out of sight has its real height only now.
    requestAnimationFrame(() => element.scrollIntoView({ block: 'center' }));
  }

  /** The beginning of the paragraph that is marked, in ms; null = none is. */
  get marked() {
    const element = this.#pane.querySelector('[data-here]');
    return element instanceof HTMLElement ? Number(element.dataset['startMs']) : null;
  }

  /** Marks the paragraph that is heard now; scrolls to it unless it was marked before. @param {string} key */
  follow(key) {
    if (this.#shown.get(key)?.dataset['here'] === 'true') return;
    this.mark(key);
  }

  /** @param {string} key @returns {HTMLElement | undefined} */
  elementOf(key) {
    return this.#shown.get(key);
  }

  /** @param {MouseEvent} event */
  #press(event) {
    const time = event.target instanceof Element ? event.target.closest('[data-at]') : null;
    if (!(time instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.#onMoment(Number(time.dataset['at']));
  }

  #noteScroll() {
    this.#following = this.isEmpty || this.#pane.scrollHeight - this.#pane.scrollTop - this.#pane.clientHeight < END_PX;
    this.#showButton();
  }

  /** Shows the beginning, and stays there. */
  goToStart() {
    this.#following = false;
    this.#pane.scrollTop = 0;
    // How much is out of sight is known when it was laid out.
    requestAnimationFrame(() => requestAnimationFrame(() => this.#noteScroll()));
  }

  #goToNewest() {
    this.#following = true;
    this.#keepUp();
    if (document.activeElement === this.#newest) this.#pane.focus({ preventScroll: true });
    this.#showButton();
  }

  #keepUp() {
    if (this.isEmpty) return;
    if (this.#following) this.#pane.scrollTop = this.#pane.scrollHeight;
    else this.#showButton();
  }

  #showButton() {
    if (this.#following) this.#unread = 0;
    this.#newest.hidden = this.#following;
    setText(this.#newest, this.#unread === 0 ? 'Newest ↓' : `${this.#unread} new below ↓`);
  }
}

/** @param {Item} item @param {boolean} isRevised @returns {HTMLElement[]} */
function wordsOf(item, isRevised) {
  if (item.kind !== 'said' && item.kind !== 'spoken') return [make('span', { class: 'words', dir: 'auto' }, item.text)];
  const { text, heardText, interrupted, lowConfidence, background, language } = item;
  const heard = item.kind === 'spoken' ? heardText : text;
  const said = make('span', { class: isRevised ? 'said revised' : 'said', lang: language || null }, heard);
  const words = make('span', { class: 'words', dir: 'auto' }, said);
  const unheard = item.kind === 'spoken' && text.startsWith(heard) ? text.slice(heard.length).trim() : '';
  if (unheard !== '') words.append(' ', make('del', { class: 'unheard' }, unheard));
  if (interrupted) words.append(' ', make('span', { class: 'cut' }, '(interrupted)'));
  if (background) words.append(' ', make('span', { class: 'cut' }, '(background)'));
  if (lowConfidence) words.append(' ', make('span', { class: 'cut' }, '(unsure)'));
  return [words];
}
