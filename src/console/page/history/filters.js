/** The search box and the filters of the history. They say what is wanted; the view asks for it. */
import { END_REASON_IDS, nameCarrier, nameEnd } from '../calls.js';
import { CARRIER_NAMES } from '../carriers.js';
import { make } from '../dom.js';
import { daysOf, PERIODS } from './periods.js';
import { TYPED_FILTERS } from './search.js';

/** @typedef {import('./search.js').Search} Search */

const TYPING_MS = 300;

export class Filters {
  #onChange;
  #typing = 0;
  #box = make('input', {
    id: 'history-q',
    type: 'search',
    placeholder: 'Search what was said: refund OR cancel, "exact words", begin*, -not',
    autocomplete: 'off',
    spellcheck: false,
    maxlength: 500,
    'aria-describedby': 'history-problem',
    enterkeyhint: 'search',
  });
  problem = make('p', { id: 'history-problem', class: 'search-problem', role: 'alert' });
  #period = select('history-when', PERIODS);
  #from = make('input', { type: 'date', 'aria-label': 'From this day on' });
  #to = make('input', { type: 'date', 'aria-label': 'Up to this day' });
  #days = make('span', { class: 'days', hidden: true }, this.#from, ' – ', this.#to);
  #ended = select('history-ended', new Map([['', 'Any'], ...END_REASON_IDS.map(named)]));
  #carrier = select('history-carrier', new Map([['', 'Any'], ...[...CARRIER_NAMES.keys()].map(carrierNamed)]));
  #hole = make('button', { type: 'button', 'aria-pressed': 'false' }, 'With holes');
  #chips = make('div', { class: 'filter-chips' });
  #kind = select('history-more', TYPED_FILTERS);
  #value = make('input', { type: 'text', 'aria-label': 'Value of the filter', maxlength: 300, autocomplete: 'off' });
  element = this.#build();

  /**
   * @param {(changes: Search, how: { isTyping: boolean }) => void} onChange told what has changed; while somebody
   *   types, the address gets no new entry for each letter
   */
  constructor(onChange) {
    this.#onChange = onChange;
    this.#box.addEventListener('input', () => {
      clearTimeout(this.#typing);
      this.#typing = setTimeout(() => this.#tellQuery(true), TYPING_MS);
    });
    this.#period.addEventListener('change', () => this.#choosePeriod());
    for (const input of [this.#from, this.#to])
      input.addEventListener('change', () => this.#tell({ when: `${this.#from.value}..${this.#to.value}` }));
    this.#ended.addEventListener('change', () => this.#tell({ endReason: this.#ended.value }));
    this.#carrier.addEventListener('change', () => this.#tell({ carrier: this.#carrier.value }));
    this.#hole.addEventListener('click', () =>
      this.#tell({ hole: this.#hole.getAttribute('aria-pressed') === 'true' ? '' : '1' }),
    );
  }

  focus() {
    this.#box.focus();
    this.#box.select();
  }

  /** Whether the search box has the focus. */
  get isSearching() {
    return document.activeElement === this.#box;
  }

  /** Shows what is searched for; what somebody is typing is left alone. @param {Search} search */
  show(search) {
    if (!this.isSearching) this.#box.value = search['q'] ?? '';
    const when = search['when'] ?? '';
    const days = daysOf(when);
    this.#period.value = days === null ? when : 'days';
    this.#days.hidden = days === null;
    if (days !== null) [this.#from.value, this.#to.value] = [days.from, days.to];
    this.#ended.value = search['endReason'] ?? '';
    this.#carrier.value = search['carrier'] ?? '';
    this.#hole.setAttribute('aria-pressed', String(search['hole'] === '1'));
    this.#showChips(search);
  }

  #build() {
    const form = make('form', { class: 'search-box', role: 'search' }, this.#boxLabel(), this.#box, this.problem);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      clearTimeout(this.#typing);
      this.#tellQuery(false);
    });
    const add = make('button', { type: 'submit' }, 'Add');
    const more = make(
      'form',
      { class: 'add-filter' },
      label('history-more', 'Filter by'),
      this.#kind,
      this.#value,
      add,
    );
    more.addEventListener('submit', (event) => {
      event.preventDefault();
      const value = this.#value.value.trim();
      this.#value.value = '';
      if (value !== '') this.#tell({ [this.#kind.value]: value });
    });
    const filters = make(
      'div',
      { class: 'filter-row' },
      field('history-when', 'When', this.#period, this.#days),
      field('history-ended', 'Ended', this.#ended),
      field('history-carrier', 'Carrier', this.#carrier),
      this.#hole,
      more,
    );
    return make('div', { class: 'search-form' }, form, filters, this.#chips);
  }

  #boxLabel() {
    return make('label', { for: 'history-q', class: 'aside' }, 'Search what was said');
  }

  /** @param {boolean} isTyping */
  #tellQuery(isTyping) {
    this.#onChange({ q: this.#box.value.trim() }, { isTyping });
  }

  /** @param {Search} changes */
  #tell(changes) {
    this.#onChange(changes, { isTyping: false });
  }

  #choosePeriod() {
    const isDays = this.#period.value === 'days';
    this.#days.hidden = !isDays;
    if (isDays) this.#from.focus();
    else this.#tell({ when: this.#period.value });
  }

  /** @param {Search} search */
  #showChips(search) {
    const chips = [...TYPED_FILTERS].flatMap(([name, words]) => {
      const value = search[name] ?? '';
      if (value === '') return [];
      const chip = make(
        'button',
        { type: 'button', class: 'filter-chip', 'aria-label': `Remove the filter ${words} ${value}` },
        make('span', {}, `${words}: ${value}`),
        make('span', { 'aria-hidden': 'true' }, '✕'),
      );
      chip.addEventListener('click', () => this.#tell({ [name]: '' }));
      return [chip];
    });
    this.#chips.replaceChildren(...chips);
  }
}

/** @param {string} id @param {ReadonlyMap<string, string>} options values with what they are called */
function select(id, options) {
  return make('select', { id }, ...[...options].map(([value, words]) => make('option', { value }, words)));
}

/** @param {string} reason @returns {[string, string]} */
function named(reason) {
  return [reason, nameEnd(reason)];
}

/** @param {string} carrier @returns {[string, string]} */
function carrierNamed(carrier) {
  const name = nameCarrier(carrier);
  return [carrier, `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`];
}

/** @param {string} id @param {string} words */
function label(id, words) {
  return make('label', { for: id }, words);
}

/** @param {string} id @param {string} words @param {...Node} controls */
function field(id, words, ...controls) {
  return make('span', { class: 'field' }, label(id, words), ...controls);
}
