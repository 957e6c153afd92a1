/** Asks for a sentence and has it spoken in a call. */
import { nameCall } from './calls.js';
import { make, setText } from './dom.js';
import { callPath, postJson } from './gateway.js';

export class SayDialog {
  #heading = make('h2', { id: 'say-heading' });
  #text = make('textarea', {
    id: 'say-text',
    rows: 3,
    maxlength: 1000,
    required: true,
    'aria-labelledby': 'say-heading',
    placeholder: 'What shall be said?',
  });
  #form = make(
    'form',
    { method: 'dialog', class: 'say-form' },
    this.#heading,
    this.#text,
    make(
      'div',
      { class: 'row' },
      make('button', { type: 'submit', class: 'strong' }, 'Say'),
      make('button', { type: 'button', onclick: () => this.#dialog.close() }, 'Cancel'),
    ),
  );
  #dialog = make('dialog', { class: 'dialog', 'aria-labelledby': 'say-heading' }, this.#form);
  #context;
  #id = '';

  /** @param {import('./view.js').ViewContext} context @param {HTMLElement} parent where it lies in the document */
  constructor(context, parent) {
    this.#context = context;
    parent.append(this.#dialog);
    this.#form.addEventListener('submit', () => void this.#say(this.#id, this.#text.value.trim()));
    this.#text.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#form.requestSubmit();
    });
  }

  /** @param {import('./calls.js').CallView} call */
  open(call) {
    this.#id = call.id;
    setText(this.#heading, `Say on ${nameCall(call)}`);
    this.#text.value = '';
    this.#dialog.showModal();
    this.#text.focus();
  }

  /** @param {string} id @param {string} text */
  async #say(id, text) {
    if (text === '') return;
    try {
      await postJson(`${callPath(id)}/say`, { text });
      this.#context.toast('It will be said.');
    } catch (error) {
      this.#context.fail(error);
    }
  }
}
