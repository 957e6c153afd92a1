/** What came of a call, and its tags: saved as soon as somebody leaves the field. */
import { make } from '../dom.js';
import { callPath, patchJson } from '../gateway.js';

/** @typedef {import('../calls.js').CallView} CallView */

const USUAL = ['solved', 'call back', 'escalated', 'not interested', 'wrong number', 'voicemail'];
const OWN_KEY = 'outcomes';
const OWN_MAX = 12;

export class Outcome {
  #context;
  #id = '';
  #list = make('datalist', { id: 'outcomes' });
  #outcome = make('input', { id: 'outcome', type: 'text', list: 'outcomes', maxlength: 100, autocomplete: 'off' });
  #tags = make('input', {
    id: 'tags',
    type: 'text',
    maxlength: 500,
    autocomplete: 'off',
    placeholder: 'vip, complaint',
  });
  #state = make('span', { class: 'saved', role: 'status' });
  element = make(
    'section',
    {},
    make('h3', {}, 'Outcome', ' ', this.#state),
    make(
      'div',
      { class: 'fields' },
      make('label', { for: 'outcome' }, 'Outcome'),
      this.#outcome,
      make('label', { for: 'tags' }, 'Tags'),
      this.#tags,
    ),
    this.#list,
  );

  /** @param {import('../view.js').ViewContext} context */
  constructor(context) {
    this.#context = context;
    this.#outcome.addEventListener('change', () => void this.#save({ outcome: this.#outcome.value.trim() || null }));
    this.#tags.addEventListener('change', () => void this.#save({ tags: tagsOf(this.#tags.value) }));
    this.#showSuggestions();
  }

  /** @param {string} id */
  clear(id) {
    this.#id = id;
    this.#outcome.value = '';
    this.#tags.value = '';
    this.#state.textContent = '';
  }

  focus() {
    this.#outcome.focus();
  }

  /** What somebody types now is left alone. @param {CallView | undefined} call */
  show(call) {
    const mayWrite = this.#context.session.may('calls.note') && call !== undefined;
    this.#outcome.disabled = !mayWrite;
    this.#tags.disabled = !mayWrite;
    if (call === undefined) return;
    fill(this.#outcome, call.outcome ?? '');
    fill(this.#tags, (call.tags ?? []).join(', '));
  }

  /** @param {{ outcome?: string | null, tags?: string[] }} changes */
  async #save(changes) {
    const id = this.#id;
    this.#state.textContent = 'saving…';
    try {
      await patchJson(callPath(id), changes);
    } catch (error) {
      if (this.#id === id) this.#state.textContent = 'not saved';
      this.#context.fail(error);
      return;
    }
    if (this.#id === id) this.#state.textContent = 'saved';
    if (typeof changes.outcome === 'string') this.#learn(changes.outcome);
  }

  /** An outcome that was given is suggested again. @param {string} outcome */
  #learn(outcome) {
    if (USUAL.includes(outcome)) return;
    const own = [outcome, ...this.#own.filter((known) => known !== outcome)].slice(0, OWN_MAX);
    this.#context.preferences.remember(OWN_KEY, JSON.stringify(own));
    this.#showSuggestions();
  }

  /** @returns {string[]} */
  get #own() {
    try {
      const own = JSON.parse(this.#context.preferences.recall(OWN_KEY, '[]'));
      return Array.isArray(own) ? own.filter((one) => typeof one === 'string') : [];
    } catch {
      return [];
    }
  }

  #showSuggestions() {
    const all = [...new Set([...this.#own, ...USUAL])];
    this.#list.replaceChildren(...all.map((value) => make('option', { value })));
  }
}

/** @param {HTMLInputElement} input @param {string} value */
function fill(input, value) {
  if (document.activeElement !== input && input.value !== value) input.value = value;
}

/** @param {string} text @returns {string[]} */
function tagsOf(text) {
  const tags = text.split(',').map((tag) => tag.trim().replace(/^#/, ''));
  return [...new Set(tags.filter((tag) => tag !== ''))];
}
