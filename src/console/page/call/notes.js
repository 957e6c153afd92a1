/** What people wrote on a call, and a field to write more. */
import { formatTime } from '../calls.js';
import { make } from '../dom.js';
import { callPath, postJson } from '../gateway.js';

const NOTE_MAX_CHARS = 4000;

/** @typedef {import('./call-log.js').Item} Item */

export class Notes {
  #context;
  #id = '';
  /** What was written and not saved, by call. @type {Map<string, string>} */
  #drafts = new Map();
  #list = make('ul', { class: 'notes' });
  #text = make('textarea', {
    id: 'note',
    rows: 2,
    maxlength: NOTE_MAX_CHARS,
    'aria-label': 'Note',
    placeholder: 'Write a note…',
  });
  #form = make('form', { class: 'note-form' }, this.#text, make('button', { type: 'submit' }, 'Save note'));
  element = make('section', {}, make('h3', {}, 'Notes'), this.#list, this.#form);
  #shown = '';

  /** @param {import('../view.js').ViewContext} context */
  constructor(context) {
    this.#context = context;
    this.#form.hidden = !context.session.may('calls.note');
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#save();
    });
    this.#text.addEventListener('input', () => this.#drafts.set(this.#id, this.#text.value));
    this.#text.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#form.requestSubmit();
    });
  }

  /** @param {string} id */
  clear(id) {
    this.#id = id;
    this.#shown = '';
    this.#list.replaceChildren();
    this.#text.value = this.#drafts.get(id) ?? '';
    this.#form.hidden = !this.#context.session.may('calls.note');
  }

  focus() {
    this.#text.focus();
  }

  /** @param {readonly Item[]} notes */
  show(notes) {
    const shown = JSON.stringify(notes.map(({ key, text }) => [key, text]));
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#list.replaceChildren(
      ...notes.map(({ author, text, startMs }) =>
        make('li', {}, make('span', { class: 'note-head' }, `${author} · ${formatTime(startMs)}`), make('p', {}, text)),
      ),
    );
  }

  async #save() {
    const id = this.#id;
    const text = this.#text.value.trim();
    if (text === '') return;
    try {
      await postJson(`${callPath(id)}/notes`, { text });
    } catch (error) {
      this.#context.fail(error);
      return;
    }
    this.#drafts.delete(id);
    if (this.#id === id) this.#text.value = '';
    this.#context.toast('The note is saved.');
  }
}
