/** Asks for a name and a password, or for a key alone. */
import { part, setText } from './dom.js';
import { explainError, KeyWanted } from './gateway.js';

export class SignIn {
  #session;
  #onOpen;
  #form = /** @type {HTMLFormElement} */ (part('key-form'));
  #name = /** @type {HTMLInputElement} */ (part('name'));
  #key = /** @type {HTMLInputElement} */ (part('key'));

  /** @param {import('./session.js').Session} session @param {() => void} onOpen called when somebody has signed in */
  constructor(session, onOpen) {
    this.#session = session;
    this.#onOpen = onOpen;
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#submit();
    });
  }

  get isShown() {
    return !part('sign-in').hidden;
  }

  show() {
    if (this.isShown) return;
    part('sign-in').hidden = false;
    this.#name.focus();
  }

  async #submit() {
    const name = this.#name.value.trim();
    const secret = this.#key.value;
    try {
      await this.#session.signIn(name === '' ? { key: secret } : { name, password: secret });
    } catch (error) {
      setText(part('key-problem'), this.#explain(error, name));
      this.#key.select();
      return;
    }
    this.#form.reset();
    setText(part('key-problem'), '');
    part('sign-in').hidden = true;
    this.#onOpen();
  }

  /** @param {unknown} error @param {string} name */
  #explain(error, name) {
    if (!(error instanceof KeyWanted)) return explainError(error);
    return name === '' ? 'This key is not valid.' : 'This name and password do not belong together.';
  }
}
