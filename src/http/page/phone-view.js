/** The view of the phone: the phone itself stays below all views while a call goes on. */
import { make } from './dom.js';

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

  /** @param {import('./view.js').ViewContext} context */
  constructor(context) {
    this.#context = context;
  }

  show() {
    this.#context.setTitle('Phone');
  }

  hide() {}
}
