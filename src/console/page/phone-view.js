/** The view of the phone: the phone itself stays below all views while a call goes on. */
import { make } from './dom.js';
import { getJson } from './gateway.js';

export class PhoneView {
  #context;
  element = make(
    'div',
    { class: 'phone-view' },
    make('h2', { id: 'phone-heading', tabindex: '-1', 'data-heading': true }, 'Phone'),
    make(
      'p',
      { class: 'hint' },
      'Call Trunkline from this browser: speak, be captioned, and hear what is said to you.',
    ),
    make(
      'p',
      { class: 'hint' },
      'Press Call below. The call then opens among the live ones, and its phone stays below whatever you look at. ' +
        'Digits that you type while the phone has the focus are pressed as keys.',
    ),
  );

  #phone;

  /** @param {import('./view.js').ViewContext} context @param {import('./phone.js').Phone} phone */
  constructor(context, phone) {
    this.#context = context;
    this.#phone = phone;
  }

  show() {
    this.#context.setTitle('Phone');
    if (this.#context.session.may('flows.read')) void this.#offerFlows();
  }

  /** Without an answer there is nothing to choose. */
  async #offerFlows() {
    const { data = [] } = await getJson('/v1/flows?limit=1000').catch(() => ({}));
    const used = data.filter((/** @type {any} */ flow) => flow.version !== null);
    this.#phone.offerFlows(used.map((/** @type {any} */ flow) => flow.name));
  }

  hide() {}
}
