/** The settings in effect and the checks of the doctor: asked for when somebody opens them. */
import { make, setText } from '../dom.js';
import { getJson } from '../gateway.js';
import { panel, state } from './panel.js';
import { countOf } from './words.js';

/**
 * @typedef {{ name: string, value: string, default: string, unit: string, meaning: string,
 *   isChanged: boolean, from: string }} Setting
 */

export class SettingsList {
  #context;
  /** @type {Setting[]} */
  #settings = [];
  #filter = make('input', {
    id: 'settings-filter',
    type: 'search',
    placeholder: 'Name or meaning',
    autocomplete: 'off',
  });
  #changed = make('input', { id: 'settings-changed', type: 'checkbox', checked: true });
  #count = make('p', { class: 'panel-note', role: 'status' });
  #list = make('dl', { class: 'settings' });
  #details = make(
    'details',
    { class: 'more' },
    make('summary', {}, 'Show them'),
    make(
      'div',
      { class: 'settings-tools' },
      make('label', { for: 'settings-filter', class: 'aside' }, 'Filter the settings'),
      this.#filter,
      make('span', { class: 'check' }, this.#changed, make('label', { for: 'settings-changed' }, 'changed ones only')),
    ),
    this.#count,
    this.#list,
  );
  element = panel('settings', 'Settings in effect', this.#details);

  /** @param {import('../view.js').ViewContext} context */
  constructor(context) {
    this.#context = context;
    this.#filter.addEventListener('input', () => this.#show());
    this.#changed.addEventListener('change', () => this.#show());
    this.#details.addEventListener('toggle', () => {
      if (this.#details.open) void this.#load();
    });
  }

  /** Shown to those who may know them. */
  open() {
    this.element.hidden = !this.#context.session.may('settings');
  }

  async #load() {
    try {
      this.#settings = (await getJson('/v1/system/settings')).data;
      this.#show();
    } catch (error) {
      this.#context.fail(error);
    }
  }

  /** Whoever types a word looks among all of them. */
  #show() {
    const wanted = this.#filter.value.trim().toLowerCase();
    const isWanted = (/** @type {Setting} */ { name, meaning, isChanged }) =>
      wanted === ''
        ? isChanged || !this.#changed.checked
        : name.toLowerCase().includes(wanted) || meaning.toLowerCase().includes(wanted);
    const shown = this.#settings.filter(isWanted);
    setText(this.#count, `${shown.length} of ${countOf(this.#settings.length, 'setting')}`);
    this.#list.replaceChildren(
      ...shown.map(({ name, value, default: usual, unit, meaning, isChanged, from }) =>
        make(
          'div',
          { 'data-changed': String(isChanged) },
          make('dt', {}, make('code', {}, `${name}=${value}`)),
          make('dd', {}, `${meaning} (${unit}${noteOf(isChanged ? usual : null, from)})`),
        ),
      ),
    );
  }
}

/**
 * @param {string | null} usual null = the value is the default
 * @param {string} from
 */
function noteOf(usual, from) {
  const normally = usual === null ? '' : `; default ${usual === '' ? 'empty' : usual}`;
  return from === 'default' ? normally : `${normally}; from ${from === 'environment' ? 'the environment' : from}`;
}

const LEVELS = /** @type {const} */ ({ ok: 'ok', warn: 'warn', fail: 'fail' });

export class Doctor {
  #context;
  #button = make('button', { type: 'button' }, 'Run the checks');
  #answer = make('p', { class: 'panel-note', role: 'status' });
  #list = make('dl', { class: 'checks' });
  element = panel('doctor', 'Doctor', this.#button, this.#answer, this.#list);

  /** @param {import('../view.js').ViewContext} context */
  constructor(context) {
    this.#context = context;
    this.#button.addEventListener('click', () => void this.#run());
  }

  async #run() {
    this.#button.disabled = true;
    setText(this.#answer, 'Checking…');
    try {
      const { data } = await getJson('/v1/system/checks');
      this.#list.replaceChildren(...data.map(showCheck));
      const bad = data.filter((/** @type {{ status: string }} */ { status }) => status !== 'ok').length;
      setText(this.#answer, bad === 0 ? 'All is well.' : `${countOf(bad, 'finding')} to look at.`);
    } catch (error) {
      setText(this.#answer, '');
      this.#context.fail(error);
    }
    this.#button.disabled = false;
    this.#button.focus();
  }
}

/** @param {{ name: string, status: 'ok' | 'warn' | 'fail', detail: string }} check */
function showCheck({ name, status, detail }) {
  return make('div', {}, make('dt', {}, state(LEVELS[status], name)), make('dd', {}, detail));
}
