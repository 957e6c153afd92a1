/** What to do while there is no call. */
import { make } from '../dom.js';
import { postJson } from '../gateway.js';

export class Welcome {
  #context;
  #demo = make(
    'button',
    { type: 'button', class: 'strong', onclick: () => void this.#placeDemo() },
    'Place a demo call',
  );
  element;

  /** @param {import('../view.js').ViewContext} context */
  constructor(context) {
    this.#context = context;
    const isPlain = location.protocol !== 'https:';
    const tunnel =
      'Twilio must be able to reach it: put a tunnel or a reverse proxy in front, and name its address in ';
    this.element = make(
      'div',
      { class: 'welcome hint', hidden: true },
      make('p', {}, make('strong', {}, 'No calls yet.'), ' They appear here by themselves, with what is said in them.'),
      make('p', {}, this.#demo, ' A simulated customer and agent talk in this server.'),
      make('p', {}, make('a', { href: '#/phone' }, 'Call from this browser'), ' and speak yourself.'),
      make('p', {}, 'To caption a real call, set your Twilio number’s voice webhook to:'),
      make('pre', { id: 'webhook' }, `${location.origin}/twilio/voice`),
      isPlain ? make('p', {}, tunnel, make('code', {}, 'PUBLIC_URL'), '.') : null,
      make(
        'p',
        {},
        'Asterisk, SIP phones and other carriers have endpoints of their own: the README lists them. Programs read ' +
          'captions and speak over the ',
        make('a', { href: '/docs' }, 'HTTP API'),
        '.',
      ),
    );
  }

  async #placeDemo() {
    this.#demo.disabled = true;
    try {
      await postJson('/v1/demo-call', {});
      this.#context.toast('The demo call is placed.');
      await this.#context.store.sync();
    } catch (error) {
      this.#context.fail(error);
    }
    this.#demo.disabled = false;
  }
}
