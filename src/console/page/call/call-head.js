/** The head of one call: who talks, how it goes, and what can be done with it as a whole. */
import { makeAskTwice } from '../ask-twice.js';
import { describeEnd, formatClock, formatLag, formatTime, nameCall, nameCarrier } from '../calls.js';
import { make, setText } from '../dom.js';
import { callPath } from '../gateway.js';
import { addressOf } from '../router.js';

/** @typedef {import('../calls.js').CallView} CallView */
/**
 * @typedef {{ copy: () => void, takeOver: (muted: boolean) => void, record: (state: 'on' | 'paused') => void,
 *   hangUp: () => void, mark: () => void }} HeadDeeds
 */

const FORMATS = /** @type {const} */ ([
  ['text', 'Text', 'txt'],
  ['srt', 'SRT subtitles', 'srt'],
  ['vtt', 'WebVTT subtitles', 'vtt'],
  ['csv', 'CSV table', 'csv'],
  ['json', 'JSON', 'json'],
  ['jsonl', 'JSON lines', 'jsonl'],
]);

export class CallHead {
  #session;
  #heading = make('h2', { id: 'call-heading', tabindex: '-1', 'data-heading': true }, 'Call');
  #chip = make('span', { class: 'chip', id: 'call-status' });
  #time = make('span', { class: 'call-time' });
  #facts = make('p', { id: 'call-facts', class: 'call-facts' });
  #takeOver = make('button', { type: 'button', hidden: true, 'aria-pressed': 'false' }, 'Take over');
  #record = make('button', { type: 'button', hidden: true }, 'Pause recording');
  #hangUp;
  #mark;
  #back = make('a', { class: 'back' });
  #menu;
  #links;
  #acts;
  element;
  #isMuted = false;
  #isRecording = false;

  /**
   * @param {HeadDeeds} deeds @param {import('../session.js').Session} session @param {HTMLElement} paneButton
   */
  constructor(deeds, session, paneButton) {
    this.#session = session;
    this.#hangUp = makeAskTwice({ words: 'Hang up', question: 'Really hang up?' }, deeds.hangUp);
    this.#mark = make('button', { type: 'button', title: 'Mark this moment (m)', onclick: deeds.mark }, '⚑ Mark');
    this.#takeOver.addEventListener('click', () => deeds.takeOver(!this.#isMuted));
    this.#record.addEventListener('click', () => deeds.record(this.#isRecording ? 'paused' : 'on'));
    this.#links = FORMATS.map(([format, words, ending]) => ({ format, ending, link: make('a', {}, words) }));
    this.#menu = make(
      'details',
      { class: 'menu' },
      make('summary', { class: 'button' }, 'Export ▾'),
      make('ul', {}, ...this.#links.map(({ link }) => make('li', {}, link))),
    );
    this.#menu.addEventListener('click', ({ target }) => this.#closeMenu(target instanceof HTMLAnchorElement));
    this.#menu.addEventListener('keydown', (event) => this.#leaveMenu(event));
    document.addEventListener('click', ({ target }) => {
      if (!(target instanceof Node && this.#menu.contains(target))) this.#closeMenu(true);
    });
    this.#acts = make(
      'div',
      { class: 'call-acts' },
      paneButton,
      this.#mark,
      make('button', { type: 'button', onclick: deeds.copy }, 'Copy'),
      this.#menu,
      this.#record,
      this.#takeOver,
      this.#hangUp,
    );
    const title = make('div', { class: 'call-title' }, this.#back, this.#heading, this.#chip, this.#time);
    this.element = make('header', { class: 'call-head' }, title, this.#acts, this.#facts);
  }

  /** @param {import('../router.js').Route} origin the list that leads here */
  setOrigin({ view, params }) {
    const words = view === 'history' ? 'History' : 'Live';
    setText(this.#back, `‹ ${words}`);
    this.#back.href = addressOf(view, params);
    this.#back.title = `Back to ${words} (Esc)`;
  }

  /** @param {string} id */
  setId(id) {
    for (const { format, ending, link } of this.#links) {
      link.href = `${callPath(id)}/transcript?format=${format}`;
      link.download = `${id}.${ending}`;
    }
    this.#closeMenu(true);
  }

  /**
   * @param {string} id @param {CallView | undefined} call undefined = the server does not know it
   * @param {import('../live-call.js').CallStatus} status @param {{ durationMs: number, slowMs: number }} times
   */
  show(id, call, status, { durationMs, slowMs }) {
    const name = call === undefined ? id : nameCall(call);
    setText(this.#heading, name);
    this.#heading.title = name;
    this.#chip.dataset['level'] = status.level;
    setText(this.#chip, call === undefined ? '' : nameStatus(call, status, slowMs));
    this.#chip.hidden = call === undefined;
    setText(this.#time, call === undefined ? '' : formatTime(durationMs));
    setText(this.#facts, call === undefined ? '' : listFacts(call));
    this.#acts.hidden = call === undefined;
    this.#showActs(call);
  }

  /** @param {CallView | undefined} call */
  #showActs(call) {
    const isLive = call?.state === 'live';
    const mayAct = this.#session.may('calls.act');
    this.#hangUp.hidden = !mayAct || call === undefined || call.state === 'ended';
    this.#mark.hidden = !isLive || !this.#session.may('calls.note');
    this.#isMuted = call?.appMuted === true;
    this.#takeOver.hidden = !isLive || !mayAct || (call?.app ?? null) === null;
    this.#takeOver.setAttribute('aria-pressed', String(this.#isMuted));
    setText(this.#takeOver, this.#isMuted ? 'Give back to the app' : 'Take over');
    this.#isRecording = call?.sound === 'recording';
    this.#record.hidden = !isLive || !mayAct || (call?.sound !== 'recording' && call?.sound !== 'paused');
    setText(this.#record, this.#isRecording ? 'Pause recording' : 'Go on recording');
  }

  /** @param {boolean} closes */
  #closeMenu(closes) {
    if (closes) this.#menu.open = false;
  }

  /** @param {KeyboardEvent} event */
  #leaveMenu(event) {
    if (event.key !== 'Escape' || !this.#menu.open) return;
    event.preventDefault();
    this.#closeMenu(true);
    this.#menu.querySelector('summary')?.focus();
  }
}

/** @param {CallView} call @param {import('../live-call.js').CallStatus} status @param {number} slowMs */
function nameStatus(call, { level, words }, slowMs) {
  if (words !== '') return words;
  if (level === 'slow') return `captions ${formatLag(slowMs)} late`;
  if (call.state === 'ended') return describeEnd(call);
  return 'live';
}

/** @param {CallView} call */
function listFacts(call) {
  const numbers = call.names?.inbound || call.names?.outbound ? `${call.from ?? '?'} → ${call.to ?? '?'}` : '';
  const facts = [
    numbers === '? → ?' ? '' : numbers,
    `begun ${formatClock(call.startedAt)}`,
    `over ${nameCarrier(call.carrier)}`,
    call.queue ? `queue ${call.queue}` : '',
    call.agent && !call.names?.outbound ? `agent ${call.agent}` : '',
    call.sound === 'recording' ? 'sound is recorded' : call.sound === 'paused' ? 'recording paused' : '',
  ];
  return facts.filter((fact) => fact !== '').join(' · ');
}
