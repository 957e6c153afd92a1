/** One call on the wall. Only what has changed is touched: a hundred cards may change several times a second. */
import { makeAskTwice } from '../ask-twice.js';
import { formatLag, formatTime, nameCall, nameEnd, nameSpeaker, nameSpoken, shortenName } from '../calls.js';
import { make, setText } from '../dom.js';
import { addressOf } from '../router.js';
import { endOf, splitMarked } from './highlight.js';

/**
 * @typedef {import('../live-call.js').LiveCall} LiveCall
 * @typedef {import('../live-call.js').Line} Line
 * @typedef {{ say: (id: string) => void, hangUp: (id: string) => void }} CardDeeds
 */

/** As much of what was said as two lines hold. */
const LINE_CHARS = 120;
const FLAGS_MAX = 3;
const TRACKS = ['inbound', 'outbound'];

/** What one side said last. */
class CardLine {
  #who = make('span', { class: 'line-who' });
  #words = make('span', { class: 'line-words', dir: 'auto' });
  element = make('p', { class: 'line' }, this.#who, ' ', make('span', { class: 'line-box' }, this.#words));
  #shown = '';
  #isMarked = false;

  /** @param {string} side */
  constructor(side) {
    this.element.dataset['side'] = side;
  }

  /** @param {string} who @param {Line | undefined} line @param {boolean} speaks @param {RegExp | null} pattern */
  show(who, line, speaks, pattern) {
    setText(this.#who, who);
    if (this.element.dataset['speaks'] !== String(speaks)) this.element.dataset['speaks'] = String(speaks);
    const kind = line?.kind ?? 'said';
    if (this.element.dataset['kind'] !== kind) this.element.dataset['kind'] = kind;
    const text = line === undefined ? '' : line.kind === 'key' ? `⌨ ${line.text}` : endOf(line.text, LINE_CHARS);
    const key = `${pattern?.source ?? ''}\n${text}`;
    if (key === this.#shown) return;
    this.#shown = key;
    const pieces = splitMarked(text, pattern);
    const isMarked = pieces.some(({ marked }) => marked);
    if (isMarked || this.#isMarked)
      this.#words.replaceChildren(...pieces.map((piece) => (piece.marked ? make('mark', {}, piece.text) : piece.text)));
    else this.#words.textContent = text;
    this.#isMarked = isMarked;
  }
}

export class Card {
  #call;
  #name = make('a', { class: 'card-name', tabindex: '-1' });
  #time = make('span', { class: 'card-time' });
  #chip = make('span', { class: 'chip' });
  #facts = make('p', { class: 'card-facts' });
  #lines = TRACKS.map((track) => new CardLine(track));
  #acts = make('div', { class: 'card-acts' });
  /** What can be done with a call that goes on. @type {HTMLElement[]} */
  #deeds = [];
  element;
  /** Words of the list that were said so far. @type {Set<string>} */
  #flags = new Set();
  /** @type {RegExp | null} */
  #pattern = null;

  /** @param {LiveCall} call @param {CardDeeds} deeds @param {boolean} mayAct */
  constructor(call, deeds, mayAct) {
    this.#call = call;
    const { id } = call.view;
    const address = addressOf('calls', { id });
    this.#name.href = address;
    this.#acts.append(make('a', { class: 'button', href: address, tabindex: '-1' }, 'Open', this.#aside()));
    if (mayAct)
      this.#deeds = [
        make('button', { type: 'button', tabindex: '-1', onclick: () => deeds.say(id) }, 'Say', this.#aside()),
        makeAskTwice(
          { words: 'Hang up', question: 'Really?', label: nameCall(call.view), attributes: { tabindex: '-1' } },
          () => deeds.hangUp(id),
        ),
      ];
    this.#acts.append(...this.#deeds);
    const head = make('div', { class: 'card-head' }, this.#name, this.#chip, this.#time);
    this.element = make(
      'li',
      { class: 'card', 'data-id': id },
      head,
      this.#facts,
      ...this.#lines.map(({ element }) => element),
      this.#acts,
    );
  }

  /** Buttons of many cards have the same words: a screen reader also gets whose they are. */
  #aside() {
    return make('span', { class: 'aside' }, ` ${nameCall(this.#call.view)}`);
  }

  /** Where the keyboard is. @param {boolean} isCurrent */
  setCurrent(isCurrent) {
    const tabindex = isCurrent ? '0' : '-1';
    for (const element of this.element.querySelectorAll('a, button')) element.setAttribute('tabindex', tabindex);
  }

  focus() {
    this.#name.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: 'nearest' });
  }

  /** @param {LiveCall} call @param {RegExp | null} pattern words to be marked @param {number} nowMs */
  update(call, pattern, nowMs) {
    this.#call = call;
    if (this.#pattern?.source !== pattern?.source) this.#flags.clear();
    this.#pattern = pattern;
    const { view } = call;
    setText(this.#name, nameCall(view));
    for (const [index, line] of this.#lines.entries()) {
      const track = TRACKS[index] ?? '';
      const last = call.lines.get(track);
      this.#flag(last);
      line.show(nameLine(view, track, last?.kind), last, call.speaking.has(track), pattern);
    }
    this.tick(nowMs);
  }

  /** What changes with time. @param {number} nowMs */
  tick(nowMs) {
    const status = this.#call.status(nowMs);
    if (this.element.dataset['level'] !== status.level) {
      this.element.dataset['level'] = status.level;
      this.#chip.dataset['level'] = status.level;
    }
    setText(this.#time, formatTime(this.#call.durationMs(nowMs)));
    const words = this.#nameStatus(status);
    setText(this.#chip, words);
    this.#chip.hidden = words === '';
    setText(this.#facts, this.#listFacts());
    if (this.#call.view.state === 'ended' && this.#deeds[0]?.hidden === false) this.#hideDeeds();
  }

  /** The call is over. Whoever has just hung up with the keyboard stays on its card. */
  #hideDeeds() {
    const hadFocus = this.#deeds.some((deed) => deed === document.activeElement);
    for (const deed of this.#deeds) deed.hidden = true;
    if (hadFocus) this.#name.focus({ preventScroll: true });
  }

  /** @param {import('../live-call.js').CallStatus} status */
  #nameStatus({ level, words }) {
    if (words !== '') return words;
    if (level === 'slow') return `${formatLag(this.#call.slowMs)} late`;
    if (level === 'failed' || level === 'ended') return nameEnd(this.#call.view.endReason ?? 'ended');
    return '';
  }

  #listFacts() {
    const { queue, agent, names, tags = [], appMuted } = this.#call.view;
    const facts = [
      ...[...this.#flags].slice(0, FLAGS_MAX).map((word) => `⚑ ${word}`),
      this.#call.step === '' ? '' : `step ${this.#call.step}`,
      queue === null || queue === undefined ? '' : `queue ${queue}`,
      (agent ?? null) === null || (names?.outbound ?? null) !== null ? '' : `agent ${agent}`,
      appMuted === true ? 'taken over' : '',
      ...tags.map((tag) => `#${tag}`),
    ];
    return facts.filter((fact) => fact !== '').join(' · ');
  }

  /** @param {Line | undefined} line */
  #flag(line) {
    if (this.#pattern === null || line === undefined || !line.final || line.kind === 'key') return;
    for (const [word] of line.text.matchAll(this.#pattern)) this.#flags.add(word.toLowerCase());
  }

  /** What its filter looks at. @returns {string} in lower case */
  get words() {
    const { view, lines } = this.#call;
    const said = [...lines.values()].map(({ text }) => text);
    return [nameCall(view), view.from, view.to, view.id, view.agent, view.queue, ...(view.tags ?? []), ...said]
      .join(' ')
      .toLowerCase();
  }
}

/**
 * Who says a line, in as little room as a card has.
 * @param {import('../calls.js').CallView} view @param {string} track @param {Line['kind'] | undefined} kind
 */
function nameLine(view, track, kind) {
  if (kind === 'prompt') return 'Prompt';
  const isApp = kind === undefined && track === 'outbound' && (view.app ?? null) !== null;
  return shortenName(kind === 'spoken' || isApp ? nameSpoken(view) : nameSpeaker(view, track));
}
