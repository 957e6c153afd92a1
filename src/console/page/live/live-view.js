/**
 * The wall of live calls. Cards keep their place: they are put in order only while neither the pointer nor the focus is
 * among them.
 */
import { make } from '../dom.js';
import { callPath, postJson } from '../gateway.js';
import { SayDialog } from '../say-dialog.js';
import { Card } from './card.js';
import { moveAmong } from './card-keys.js';
import { CardOrder } from './card-order.js';
import { LiveHead } from './live-head.js';
import { RecentWords } from './recent-words.js';
import { Welcome } from './welcome.js';

/** @typedef {import('../live-call.js').LiveCall} LiveCall */

const TICK_MS = 1000;
/** A card of a call that has ended stays for so long; of one that failed, longer. */
const ENDED_SHOWN_MS = 8000;
const FAILED_SHOWN_MS = 90_000;

export class LiveView {
  #context;
  #head;
  #wall = make('ul', { class: 'wall', 'aria-label': 'Live calls' });
  #none = make('p', { class: 'hint none', hidden: true }, 'No live call is like that.');
  #welcome;
  #pane;
  /** How far the wall was scrolled when another view was opened. */
  #scrollTop = 0;
  element;
  /** @type {Map<string, Card>} */
  #cards = new Map();
  #order = new CardOrder();
  #say;
  #recent = new RecentWords((id, items) => this.#takeWords(id, items));
  #timer = 0;
  #isPointed = false;
  /** The card that the keyboard is on. */
  #current = '';

  /** @param {import('../view.js').ViewContext} context */
  constructor(context) {
    this.#context = context;
    this.#head = new LiveHead(context, { onChange: () => this.#showAll(), onNext: (level) => this.#focusNext(level) });
    this.#welcome = new Welcome(context);
    this.#pane = make('div', { class: 'wall-pane' }, this.#wall, this.#none, this.#welcome.element);
    this.element = make(
      'section',
      { class: 'live', 'aria-labelledby': 'live-heading' },
      this.#head.element,
      this.#pane,
    );
    this.#say = new SayDialog(context, this.element);
    context.store.onChange((changed) => this.#showChanged(changed));
    this.#wall.addEventListener('pointerenter', () => this.#point(true));
    for (const type of ['pointerleave', 'pointercancel']) this.#wall.addEventListener(type, () => this.#point(false));
    this.#wall.addEventListener('keydown', (event) => this.#press(event));
    this.#wall.addEventListener('focusin', ({ target }) => this.#noteFocus(target));
  }

  /** @param {import('../view.js').Params} params */
  show(params) {
    this.#head.setParams(params);
    this.#context.setShortcuts([
      { keys: '/', words: 'Filter the calls', run: () => this.#head.focusFilter() },
      { keys: 'ArrowLeft', words: 'Move among the calls', run: () => this.#focusCard(this.#ids[0]) },
      {
        keys: 'Enter',
        words: 'Open the call that is chosen',
        run: () => this.#context.go('calls', { id: this.#current }),
      },
      { keys: 'n', words: 'Next call that is slow or failed', run: () => this.#focusNext(null) },
      { keys: 's', words: 'Say something in the chosen call', run: () => this.#openSay(this.#current) },
    ]);
    const isOpened = this.#timer === 0;
    if (isOpened) this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#showAll();
    if (isOpened) this.#pane.scrollTop = this.#scrollTop;
  }

  hide() {
    this.#scrollTop = this.#pane.scrollTop;
    clearInterval(this.#timer);
    this.#timer = 0;
    this.#isPointed = false;
  }

  // What is shown

  /** @param {ReadonlySet<string>} changed */
  #showChanged(changed) {
    if (this.#timer === 0) return;
    const nowMs = performance.now();
    let hasNew = false;
    for (const id of changed) {
      const call = this.#context.store.get(id);
      if (call === undefined) continue;
      hasNew ||= !this.#cards.has(id);
      this.#showCard(call, nowMs);
    }
    if (hasNew || [...changed].some((id) => this.#context.store.get(id) === undefined)) this.#arrange(nowMs);
    this.#showCounts(nowMs);
  }

  #showAll() {
    const nowMs = performance.now();
    for (const call of this.#context.store.calls) this.#showCard(call, nowMs);
    this.#arrange(nowMs);
    this.#showCounts(nowMs);
  }

  #tick() {
    if (document.hidden) return;
    const nowMs = performance.now();
    for (const card of this.#cards.values()) card.tick(nowMs);
    this.#arrange(nowMs);
    this.#showCounts(nowMs);
  }

  /** @param {LiveCall} call @param {number} nowMs */
  #showCard(call, nowMs) {
    const { id } = call.view;
    if (!this.#cards.has(id) && this.#isOver(call, nowMs)) return;
    const card = this.#cards.get(id) ?? this.#addCard(call);
    card.update(call, this.#head.pattern, nowMs);
    card.element.hidden = !this.#head.passes(call.view, card.words);
  }

  /** @param {LiveCall} call */
  #addCard(call) {
    const { id } = call.view;
    const deeds = { say: () => this.#openSay(id), hangUp: () => void this.#hangUp(id) };
    const card = new Card(call, deeds, this.#context.session.may('calls.act'));
    this.#cards.set(id, card);
    this.#wall.append(card.element);
    const { finals, spoken } = call.view.counts ?? { finals: 1, spoken: 0 };
    if (call.lines.size === 0 && finals + spoken > 0) this.#recent.want(id);
    if (this.#cards.size === 1) this.#setCurrent(id);
    return card;
  }

  /** Whether the card of a call has been there for long enough. @param {LiveCall} call @param {number} nowMs */
  #isOver(call, nowMs) {
    if (call.endedAtMs === null) return false;
    return nowMs - call.endedAtMs > (call.status(nowMs).level === 'failed' ? FAILED_SHOWN_MS : ENDED_SHOWN_MS);
  }

  /**
   * Puts cards in order and takes away those of calls that are over, unless somebody is among them.
   * @param {number} nowMs
   */
  #arrange(nowMs) {
    const { store } = this.#context;
    const shown = store.calls.filter((call) => this.#cards.has(call.view.id));
    const isHeld = this.#isPointed || this.#wall.contains(document.activeElement);
    const ids = this.#order.arrange(
      shown.map((call) => ({
        id: call.view.id,
        level: call.status(nowMs).level,
        startedAt: call.view.startedAt,
      })),
      nowMs,
    );
    if (!isHeld) {
      this.#removeOver(nowMs);
      this.#place(ids.filter((id) => this.#cards.has(id)));
    }
    this.#showNothing();
  }

  /** @param {number} nowMs */
  #removeOver(nowMs) {
    for (const [id, card] of this.#cards) {
      const call = this.#context.store.get(id);
      if (call !== undefined && !this.#isOver(call, nowMs)) continue;
      card.element.remove();
      this.#cards.delete(id);
    }
  }

  /** @param {readonly string[]} ids */
  #place(ids) {
    for (const [index, id] of ids.entries()) {
      const element = this.#cards.get(id)?.element;
      const there = this.#wall.children[index] ?? null;
      if (element !== undefined && element !== there) this.#wall.insertBefore(element, there);
    }
    if (!this.#cards.has(this.#current)) this.#setCurrent(ids[0] ?? '');
  }

  #showNothing() {
    const isEmpty = this.#cards.size === 0;
    this.#welcome.element.hidden = !isEmpty || this.#context.store.freshAtMs === 0;
    this.#wall.hidden = isEmpty;
    this.#none.hidden = isEmpty || [...this.#cards.values()].some(({ element }) => !element.hidden);
  }

  /** @param {number} nowMs */
  #showCounts(nowMs) {
    const calls = this.#context.store.calls;
    const levels = calls.filter((call) => !this.#isOver(call, nowMs)).map((call) => call.status(nowMs).level);
    const live = calls.filter(({ view }) => view.state !== 'ended').length;
    const slow = levels.filter((level) => level === 'slow').length;
    const failed = levels.filter((level) => level === 'failed').length;
    this.#head.showCounts({ live, slow, failed });
    this.#head.showQueues(calls.map(({ view }) => view.queue ?? ''));
    this.#context.setTitle(
      live === 0 ? '' : `${live} live${slow + failed === 0 ? '' : `, ${slow + failed} to look at`}`,
    );
  }

  /** @param {string} id @param {readonly any[]} items */
  #takeWords(id, items) {
    const call = this.#context.store.get(id);
    if (call === undefined) return;
    const said = items.filter(({ background = false }) => !background);
    for (const { kind, track = 'outbound', text, heardText, utterance } of said.slice(-20)) {
      if (kind === 'caption' || kind === 'spoken')
        call.recall({ kind: kind === 'spoken' ? 'spoken' : 'said', track, text: heardText ?? text, utterance });
    }
    this.#showCard(call, performance.now());
  }

  // The keyboard and the pointer

  /** @param {boolean} isPointed */
  #point(isPointed) {
    this.#isPointed = isPointed;
  }

  /** The ids of the cards that are shown, as they stand. */
  get #ids() {
    return [...this.#wall.children]
      .filter((child) => child instanceof HTMLElement && !child.hidden)
      .map((child) => /** @type {HTMLElement} */ (child).dataset['id'] ?? '');
  }

  /** @param {string} id */
  #setCurrent(id) {
    this.#cards.get(this.#current)?.setCurrent(false);
    this.#current = id;
    this.#cards.get(id)?.setCurrent(true);
  }

  /** @param {string | undefined} id */
  #focusCard(id) {
    if (id === undefined) return;
    this.#setCurrent(id);
    this.#cards.get(id)?.focus();
  }

  /** @param {EventTarget | null} target */
  #noteFocus(target) {
    const card = target instanceof Element ? target.closest('.card') : null;
    if (card instanceof HTMLElement) this.#setCurrent(card.dataset['id'] ?? '');
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const to = moveAmong(this.#wall, event);
    if (to === null) return;
    event.preventDefault();
    this.#focusCard(to.dataset['id']);
  }

  /**
   * Goes to the next card of a level, after the one that is chosen; null = slow or failed.
   * @param {'slow' | 'failed' | 'live' | null} level
   */
  #focusNext(level) {
    const ids = this.#ids;
    const at = this.#wall.contains(document.activeElement) ? ids.indexOf(this.#current) : -1;
    const inTurn = [...ids.slice(at + 1), ...ids.slice(0, at + 1)];
    const isWanted = (/** @type {string} */ id) => {
      const found = this.#context.store.get(id)?.status(performance.now()).level;
      return level === null ? found === 'slow' || found === 'failed' : level === 'live' || found === level;
    };
    const next = inTurn.find(isWanted);
    if (next === undefined) this.#context.toast('No call is slow or failed.');
    this.#focusCard(next);
  }

  // What is done in calls

  /** @param {string} id */
  #openSay(id) {
    const call = this.#context.store.get(id);
    if (call !== undefined && this.#context.session.may('calls.act')) this.#say.open(call.view);
  }

  /** @param {string} id */
  async #hangUp(id) {
    try {
      await postJson(`${callPath(id)}/hangup`);
      this.#context.toast('The call ends when all that waits has been said.');
    } catch (error) {
      this.#context.fail(error);
    }
  }
}
