/** What is said to the caller, and keys that are pressed for them. */
import { make, part } from '../dom.js';
import { callPath, postJson } from '../gateway.js';

const DIGITS = '[0-9*#A-Dw]{1,100}';

export class SayBar {
  #context;
  #id = '';
  #text = make('input', {
    type: 'text',
    maxlength: 1000,
    autocomplete: 'off',
    enterkeyhint: 'send',
    'aria-label': 'Sentence to be said to the caller',
    placeholder: 'Say to the caller…',
    required: true,
  });
  #digits = make('input', {
    class: 'digits',
    type: 'text',
    inputmode: 'tel',
    pattern: DIGITS,
    title: '0-9, *, #, A-D; w waits half a second',
    autocomplete: 'off',
    'aria-label': 'Keys to be pressed',
    placeholder: 'Keys',
    required: true,
  });
  element = make(
    'div',
    { class: 'say-bar', hidden: true },
    make(
      'form',
      { class: 'say-text', onsubmit: (/** @type {Event} */ event) => this.#submit(event, this.#text) },
      this.#text,
      make('button', { type: 'submit', class: 'strong' }, 'Say'),
    ),
    make(
      'form',
      { class: 'say-keys', onsubmit: (/** @type {Event} */ event) => this.#submit(event, this.#digits) },
      this.#digits,
      make('button', { type: 'submit' }, 'Press'),
    ),
  );

  /** @param {import('../view.js').ViewContext} context */
  constructor(context) {
    this.#context = context;
  }

  /** @param {string} id @param {boolean} isLive */
  show(id, isLive) {
    if (id !== this.#id) {
      this.#text.value = '';
      this.#digits.value = '';
    }
    this.#id = id;
    this.element.hidden = !isLive || this.#isPhoneCall || !this.#context.session.may('calls.act');
  }

  /** The call of the phone in this page has a field for sentences there. */
  get #isPhoneCall() {
    return document.body.dataset['phoneCall'] === this.#id;
  }

  /** Where sentences are typed. @returns {HTMLInputElement} */
  get #field() {
    return this.#isPhoneCall ? /** @type {HTMLInputElement} */ (part('phone-text')) : this.#text;
  }

  focus() {
    this.#field.focus();
  }

  /** Puts a text where it can be changed before it is said. @param {string} text */
  offer(text) {
    this.#field.value = text;
    this.#field.focus();
  }

  /** @param {Event} event @param {HTMLInputElement} input */
  #submit(event, input) {
    event.preventDefault();
    const text = input.value.trim();
    if (text === '') return;
    const isKeys = input === this.#digits;
    input.value = '';
    void this.#send(isKeys ? 'dtmf' : 'say', isKeys ? { digits: text } : { text }).then((isDone) => {
      if (isDone) this.#context.toast(isKeys ? `Keys ${text} are pressed.` : 'It will be said.');
      else if (input.value === '') input.value = text;
    });
  }

  /** @param {string} deed @param {object} body @returns {Promise<boolean>} whether it was taken */
  async #send(deed, body) {
    try {
      await postJson(`${callPath(this.#id)}/${deed}`, body);
      return true;
    } catch (error) {
      this.#context.fail(error);
      return false;
    }
  }
}
