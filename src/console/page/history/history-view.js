/** The history: searches the calls that are kept. The address holds the whole search. */
import { nameCall } from '../calls.js';
import { askToConfirm } from '../confirm.js';
import { placeDemoCall } from '../demo-call.js';
import { make, setText } from '../dom.js';
import { callPath, deleteJson, getJson, Refusal } from '../gateway.js';
import { Filters } from './filters.js';
import { Rows } from './rows.js';
import { changed, filterQuery, isNarrowed, listPath } from './search.js';

/**
 * @typedef {import('../view.js').ViewContext} ViewContext
 * @typedef {import('./search.js').Search} Search
 * @typedef {import('./rows.js').FoundCall} FoundCall
 */

const EXPORT_FORMATS = new Map([
  ['text', 'Text, to read'],
  ['csv', 'CSV, for spreadsheets'],
  ['jsonl', 'JSON lines, for programs'],
]);

export class HistoryView {
  #context;
  /** @type {Search} */
  #search = {};
  /** The cursors of the pages before this one; the first page has none. @type {string[]} */
  #before = [];
  /** @type {string | null} */
  #next = null;
  #asking = new AbortController();
  /** The call that was opened from the list: whoever comes back goes on there. @type {string | null} */
  #openedId = null;
  /** How long calls are kept, as far as this person may know; undefined = nobody has asked. */
  #kept = /** @type {string | undefined} */ (undefined);
  #filters = new Filters((changes, how) => this.#change(changes, how));
  #rows = new Rows((call) => void this.#delete(call));
  #count = make('p', { class: 'found-count', role: 'status' });
  #last = make('span');
  #empty = make('div', { class: 'empty hint', hidden: true });
  #off = make('p', { class: 'off', hidden: true });
  #keeping = make('p', { class: 'keeping' });
  #previousButton = make('button', { type: 'button', title: 'Later calls (p)' }, '‹ Later');
  #nextButton = make('button', { type: 'button', title: 'Earlier calls (n)' }, 'Earlier ›');
  #page = make('span', { class: 'page-number' });
  #exports = make('details', { class: 'export-menu' });
  element = this.#build();

  /** @param {ViewContext} context */
  constructor(context) {
    this.#context = context;
    this.#previousButton.addEventListener('click', () => this.#turn(-1));
    this.#nextButton.addEventListener('click', () => this.#turn(1));
    this.#exports.addEventListener('focusout', ({ relatedTarget }) => {
      if (relatedTarget instanceof Node && !this.#exports.contains(relatedTarget)) this.#exports.open = false;
    });
    this.element.addEventListener('click', ({ target }) => {
      if (target instanceof Node && !this.#exports.contains(target)) this.#exports.open = false;
    });
    this.element.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.#exports.open) this.#closeExports();
      if (event.key !== 'ArrowDown' || !this.#filters.isSearching) return;
      event.preventDefault();
      this.#rows.focusFirst();
    });
  }

  /** @param {Search} params */
  show(params) {
    this.#search = params;
    this.#context.setTitle('History');
    this.#context.setShortcuts([
      { keys: '/', words: 'Search', run: () => this.#filters.focus() },
      { keys: 'ArrowDown', words: 'To the calls; then ↑ ↓ and Enter', run: () => this.#rows.focusFirst() },
      { keys: 'n', words: 'Earlier calls', run: () => this.#turn(1) },
      { keys: 'p', words: 'Later calls', run: () => this.#turn(-1) },
    ]);
    if (params['from'] === undefined) this.#before = [];
    this.#filters.show(params);
    this.#showExports();
    void this.#load();
    if (this.#kept === undefined) void this.#askHowLong();
  }

  hide() {
    this.#asking.abort();
    this.#openedId = this.#rows.focusedId;
  }

  #build() {
    return make(
      'section',
      { class: 'history', 'aria-labelledby': 'history-heading' },
      make(
        'header',
        { class: 'history-head' },
        make('h2', { id: 'history-heading', tabindex: '-1', 'data-heading': true }, 'History'),
        this.#count,
        this.#exports,
      ),
      this.#filters.element,
      this.#off,
      make(
        'div',
        { class: 'results' },
        make(
          'div',
          { class: 'columns', 'aria-hidden': 'true' },
          ...['Time', 'Who', 'Length', 'Ended'].map((words) => make('span', {}, words)),
          this.#last,
        ),
        this.#rows.element,
        this.#empty,
      ),
      make(
        'footer',
        { class: 'history-foot' },
        this.#keeping,
        make('nav', { class: 'pager', 'aria-label': 'Pages' }, this.#previousButton, this.#page, this.#nextButton),
      ),
    );
  }

  /** @param {Search} changes @param {{ isTyping: boolean }} how */
  #change(changes, { isTyping }) {
    const search = changed(this.#search, changes);
    if (!isTyping) {
      this.#context.go('history', search);
      return;
    }
    this.#search = search;
    this.#before = [];
    this.#context.stay('history', search);
    this.#showExports();
    void this.#load();
  }

  /** @param {1 | -1} steps */
  #turn(steps) {
    const { from = '', page: _page, ...rest } = this.#search;
    if (steps === 1 && this.#next !== null) {
      const page = String(Number(this.#search['page'] ?? '1') + 1);
      this.#before.push(from);
      this.#context.go('history', { ...rest, from: this.#next, page });
    }
    if (steps === -1 && from !== '') {
      const before = this.#before.pop() ?? '';
      const page = Math.max(Number(this.#search['page'] ?? '2') - 1, 1);
      this.#context.go('history', before === '' ? rest : { ...rest, from: before, page: String(page) });
    }
  }

  async #load() {
    this.#asking.abort();
    const asking = new AbortController();
    this.#asking = asking;
    this.#rows.element.setAttribute('aria-busy', 'true');
    if (this.#rows.isEmpty) setText(this.#count, 'Searching…');
    try {
      const { data, next } = await getJson(listPath(this.#search, new Date()), asking.signal);
      if (asking.signal.aborted) return;
      this.#showCalls(data, next);
    } catch (error) {
      if (!asking.signal.aborted) this.#showProblem(error);
    }
    if (!asking.signal.aborted) this.#rows.element.removeAttribute('aria-busy');
  }

  /** @param {FoundCall[]} calls @param {string | null} next */
  #showCalls(calls, next) {
    const mayDelete = this.#context.session.may('calls.delete');
    this.#next = next;
    setText(this.#last, (this.#search['q'] ?? '') === '' ? 'Notes' : 'Found');
    setText(this.#filters.problem, '');
    this.#rows.show(calls, { mayDelete, now: new Date() });
    this.#goOn();
    const page = Number(this.#search['page'] ?? '1');
    const more = next === null ? '' : ' and more';
    setText(this.#count, calls.length === 0 ? '' : `${calls.length} ${calls.length === 1 ? 'call' : 'calls'}${more}`);
    setText(this.#page, next === null && page === 1 ? '' : `Page ${page}`);
    this.#nextButton.disabled = next === null;
    this.#previousButton.disabled = this.#search['from'] === undefined;
    this.element.dataset['empty'] = String(calls.length === 0);
    this.#empty.hidden = calls.length > 0;
    if (calls.length === 0) this.#explainEmpty();
  }

  /** Unless somebody works with something else by now. */
  #goOn() {
    const focused = document.activeElement;
    const isFree = focused === document.body || focused === this.element.querySelector('[data-heading]');
    if (isFree && this.#openedId !== null) this.#rows.focusOn(this.#openedId);
    this.#openedId = null;
  }

  #explainEmpty() {
    if (isNarrowed(this.#search)) {
      const clear = make('button', { type: 'button' }, 'Show all calls');
      clear.addEventListener('click', () => this.#context.go('history', {}));
      this.#empty.replaceChildren(make('p', {}, make('strong', {}, 'No call is like that.')), make('p', {}, clear));
      return;
    }
    const demo = make('button', { type: 'button', class: 'strong' }, 'Place a demo call');
    demo.addEventListener('click', () => void placeDemoCall(this.#context));
    const place = this.#context.session.may('calls.make') ? [make('p', {}, demo)] : [];
    this.#empty.replaceChildren(
      make('p', {}, make('strong', {}, 'No calls yet.')),
      make('p', {}, 'Calls are here as soon as they begin, and stay to be searched and read again.'),
      ...place,
    );
  }

  /** @param {unknown} error */
  #showProblem(error) {
    if (!(error instanceof Refusal)) {
      this.#context.fail(error);
      return;
    }
    if (error.code === 'records_off') this.#showOff(error.message);
    else setText(this.#filters.problem, error.message);
    this.#rows.show([], { mayDelete: false, now: new Date() });
    setText(this.#count, '');
  }

  /** @param {string} words */
  #showOff(words) {
    this.#off.hidden = words === '';
    setText(this.#off, words);
  }

  /** @param {FoundCall} call */
  async #delete(call) {
    const confirmed = await askToConfirm({
      title: 'Delete this call?',
      words: `${nameCall(call)}: what was said, its sound and its notes are gone for good, for everybody.`,
      deed: 'Delete',
    });
    if (!confirmed) return;
    try {
      await deleteJson(callPath(call.id));
      this.#context.toast('The call was deleted.');
      await this.#load();
      this.#rows.focusFirst();
    } catch (error) {
      this.#context.fail(error);
    }
  }

  #closeExports() {
    this.#exports.open = false;
    this.#exports.querySelector('summary')?.focus();
  }

  #showExports() {
    this.#exports.hidden = !this.#context.session.may('calls.export');
    const links = [...EXPORT_FORMATS].map(([format, words]) => {
      const query = filterQuery(this.#search, new Date());
      query.set('format', format);
      const link = make('a', { href: `/v1/calls/export?${query}`, download: true }, words);
      link.addEventListener('click', () => this.#exports.removeAttribute('open'));
      return make('li', {}, link);
    });
    const isOpen = this.#exports.open;
    this.#exports.replaceChildren(make('summary', { class: 'button' }, 'Export'), make('ul', {}, ...links));
    this.#exports.open = isOpen;
  }

  /** Those who may not look at the system are not told. */
  async #askHowLong() {
    this.#kept = '';
    const isAgent = this.#context.session.person?.role === 'agent';
    const masked = isAgent ? ['numbers masked'] : [];
    if (this.#context.session.may('system')) {
      const { records } = await getJson('/v1/system').catch(() => ({ records: undefined }));
      if (records === null) this.#showOff(NOTHING_KEPT);
      if (records) masked.unshift(records.retentionDays === 0 ? 'kept for ever' : `kept ${records.retentionDays} days`);
      if (records && records.redaction !== 'off') masked.push('numbers redacted');
    }
    this.#kept = masked.join(' · ');
    setText(this.#keeping, this.#kept);
  }
}

const NOTHING_KEPT =
  'Nothing is kept: only calls of now and the last ones are here, and they cannot be searched. Set DATA_DIR to a ' +
  'folder, or DATABASE_URL.';
