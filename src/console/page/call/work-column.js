/** What helps whoever works with a call: advice, facts to copy, notes, what came of it. */

import { formatTime } from '../calls.js';
import { copyText } from '../clipboard.js';
import { make } from '../dom.js';
import { factsOf, uniqueFacts } from './facts.js';
import { Hints } from './hints.js';
import { Notes } from './notes.js';
import { Outcome } from './outcome.js';

/**
 * @typedef {import('./call-log.js').CallLog} CallLog
 * @typedef {import('../calls.js').CallView} CallView
 * @typedef {import('./facts.js').Fact} Fact
 */

const FACTS_MAX = 30;
/** @type {Readonly<Record<Fact['kind'], string>>} */
const FACT_NAMES = { email: 'e-mail', phone: 'phone', amount: 'amount', date: 'date', time: 'time', number: 'number' };

export class WorkColumn {
  #context;
  #hints;
  #notes;
  #outcome;
  #facts = make('ul', { class: 'facts' });
  #factsSection = make('section', { hidden: true }, make('h3', {}, 'Facts'), this.#facts);
  #about = make('dl', { class: 'about' });
  element;
  /** The facts of each item, by its key, with their text. @type {Map<string, { text: string, facts: Fact[] }>} */
  #found = new Map();
  #shownFacts = '';

  /** @param {import('../view.js').ViewContext} context @param {(text: string) => void} onSay */
  constructor(context, onSay) {
    this.#context = context;
    this.#hints = new Hints(context, onSay);
    this.#notes = new Notes(context);
    this.#outcome = new Outcome(context);
    this.element = make(
      'aside',
      { class: 'work', 'aria-label': 'Notes and hints' },
      this.#hints.element,
      this.#factsSection,
      this.#notes.element,
      this.#outcome.element,
      make('section', {}, make('h3', {}, 'About the call'), this.#about),
    );
  }

  /** How many hints there are. */
  get hints() {
    return this.#hints.count;
  }

  /** Begins with another call. @param {string} id */
  clear(id) {
    this.#found.clear();
    this.#shownFacts = '';
    this.#facts.replaceChildren();
    this.#factsSection.hidden = true;
    this.#hints.clear();
    this.#notes.clear(id);
    this.#outcome.clear(id);
  }

  /** @param {CallLog} log @param {readonly string[]} keys items that have changed */
  update(log, keys) {
    this.#hints.show(log.hints);
    this.#notes.show(log.items.filter(({ kind }) => kind === 'note'));
    this.#findFacts(log, keys);
  }

  /** @param {CallView | undefined} call */
  setCall(call) {
    const isLive = call !== undefined && call.state !== 'ended';
    this.#hints.setLive(isLive);
    this.#outcome.show(call);
    this.#showAbout(call);
  }

  focusNote() {
    this.#notes.focus();
  }

  focusOutcome() {
    this.#outcome.focus();
  }

  /** @param {CallLog} log @param {readonly string[]} keys */
  #findFacts(log, keys) {
    let isChanged = false;
    for (const key of keys) {
      const item = log.get(key);
      const text = item?.kind === 'said' ? item.text : '';
      if ((this.#found.get(key)?.text ?? '') === text) continue;
      const facts = factsOf(text);
      isChanged ||= facts.length > 0 || (this.#found.get(key)?.facts.length ?? 0) > 0;
      this.#found.set(key, { text, facts });
    }
    if (isChanged) this.#showFacts(log);
  }

  /** The latest first. @param {CallLog} log */
  #showFacts(log) {
    const facts = uniqueFacts(log.items.flatMap(({ key }) => this.#found.get(key)?.facts ?? [])).toReversed();
    const shown = JSON.stringify(facts);
    if (shown === this.#shownFacts) return;
    this.#shownFacts = shown;
    this.#factsSection.hidden = facts.length === 0;
    this.#facts.replaceChildren(...facts.slice(0, FACTS_MAX).map((fact) => this.#makeFact(fact)));
  }

  /** @param {Fact} fact */
  #makeFact({ kind, value, words }) {
    const name = words === '' ? FACT_NAMES[kind] : words;
    const copy = async () => {
      const isCopied = await copyText(value);
      this.#context.toast(
        isCopied ? `Copied: ${value}` : 'The browser does not let this page copy.',
        isCopied ? 'done' : 'problem',
      );
    };
    return make(
      'li',
      {},
      make('span', { class: 'fact-name' }, name),
      ' ',
      make('span', { class: 'fact-value' }, value),
      make(
        'button',
        { type: 'button', class: 'small', 'aria-label': `Copy ${name} ${value}`, onclick: () => void copy() },
        'Copy',
      ),
    );
  }

  /** @param {CallView | undefined} call */
  #showAbout(call) {
    const rows = call === undefined ? [] : aboutOf(call);
    const text = rows.map((row) => row.join('\n')).join('\n');
    if (text === this.#about.dataset['shown']) return;
    this.#about.dataset['shown'] = text;
    this.#about.replaceChildren(...rows.flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]));
  }
}

/** @param {CallView} call @returns {[name: string, value: string][]} */
function aboutOf(call) {
  const { counts } = call;
  /** @type {[string, string | null | undefined][]} */
  const rows = [
    ['Id', call.id],
    ['From', call.from],
    ['To', call.to],
    ['Agent', call.agent],
    ['App', isFlow(call.app) ? null : call.app],
    ['Flow', call.flow === null || call.flow === undefined ? null : nameFlow(call.flow, call.flowVersion)],
    ['Handed over', call.handoffData],
    ['SIP answer', call.sip ? `${call.sip.status} ${call.sip.reason}` : null],
    ['Length', call.state === 'ended' ? formatTime(call.durationMs) : null],
    ['Captions', counts === undefined ? null : listCounts(counts)],
    ['Holes', counts === undefined || counts.gaps === 0 ? null : String(counts.gaps)],
    [
      'Worst lag',
      call.worstLagMs === null || call.worstLagMs === undefined ? null : `${Math.round(call.worstLagMs)} ms`,
    ],
  ];
  return rows.flatMap(([name, value]) => (value === null || value === undefined ? [] : [[name, value]]));
}

/** Where a flow talks, it is told as the app, too. @param {string | null | undefined} app */
function isFlow(app) {
  return app?.startsWith('flow:') === true;
}

/** @param {string} flow @param {string | null | undefined} version */
function nameFlow(flow, version) {
  return version === null || version === undefined ? flow : `${flow}, version ${version}`;
}

/** @param {{ finals: number, spoken: number, keys: number }} counts */
function listCounts({ finals, spoken, keys }) {
  const others = [
    spoken === 0 ? '' : `, ${spoken} spoken`,
    keys === 0 ? '' : keys === 1 ? ', 1 key' : `, ${keys} keys`,
  ];
  return `${finals} said${others.join('')}`;
}
