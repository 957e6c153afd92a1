/** The system: how the server is. It looks every few seconds while somebody can see it, and leaves the focus alone. */
import { make } from '../dom.js';
import { getJson, Refusal } from '../gateway.js';
import { Apps } from './apps.js';
import { Engines } from './engines.js';
import { Gateways } from './gateways.js';
import { Audit, Users } from './people.js';
import { Prompts } from './prompts.js';
import { RemoteServers } from './remote-servers.js';
import { Doctor, SettingsList } from './settings.js';
import { Refusals, Storage, Summary, WaysIn } from './status.js';

const LOOK_MS = 4000;

export class SystemView {
  #context;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #isShown = false;
  #asking = new AbortController();
  #summary = new Summary();
  #engines = new Engines();
  #gateways = new Gateways();
  #remotes = new RemoteServers();
  #ways = new WaysIn();
  #refusals = new Refusals();
  #storage = new Storage();
  #apps;
  #prompts;
  #settings;
  #users;
  #audit;
  #refused = make('p', { class: 'hint', hidden: true });
  #panels;
  element;

  /** @param {import('../view.js').ViewContext} context */
  constructor(context) {
    this.#context = context;
    this.#apps = new Apps(context);
    this.#prompts = new Prompts(context);
    this.#settings = new SettingsList(context);
    this.#users = new Users(context);
    this.#audit = new Audit(context);
    this.#panels = this.#buildPanels();
    this.element = make(
      'section',
      { class: 'system', 'aria-labelledby': 'system-heading' },
      make(
        'header',
        { class: 'system-head' },
        make('h2', { id: 'system-heading', tabindex: '-1', 'data-heading': true }, 'System'),
        make('a', { href: '/metrics' }, 'Metrics'),
        make('a', { href: '/docs' }, 'API'),
      ),
      this.#refused,
      this.#panels,
    );
    document.addEventListener('visibilitychange', () => this.#lookIfSeen());
  }

  show() {
    const wasShown = this.#isShown;
    this.#isShown = true;
    this.#context.setTitle('System');
    this.#context.setShortcuts([{ keys: 'r', words: 'Look again now', run: () => void this.#look() }]);
    void this.#look();
    if (wasShown) return;
    void this.#prompts.open();
    this.#settings.open();
    void this.#users.open();
    this.#audit.open();
  }

  hide() {
    this.#isShown = false;
    clearTimeout(this.#timer);
    this.#asking.abort();
    this.#prompts.close();
  }

  #buildPanels() {
    return make(
      'div',
      { class: 'system-body' },
      this.#summary.element,
      make(
        'div',
        { class: 'panels' },
        this.#gateways.element,
        this.#engines.element,
        this.#remotes.element,
        this.#ways.element,
        this.#apps.element,
        this.#refusals.element,
        this.#storage.element,
        this.#prompts.element,
        this.#settings.element,
        new Doctor(this.#context).element,
        this.#users.element,
        this.#audit.element,
      ),
    );
  }

  #lookIfSeen() {
    if (this.#isShown && document.visibilityState === 'visible') void this.#look();
  }

  async #look() {
    clearTimeout(this.#timer);
    this.#asking.abort();
    const asking = new AbortController();
    this.#asking = asking;
    try {
      this.#draw(await getJson('/v1/system', asking.signal));
    } catch (error) {
      if (asking.signal.aborted) return;
      this.#explain(error);
    }
    if (this.#isShown && document.visibilityState === 'visible')
      this.#timer = setTimeout(() => void this.#look(), LOOK_MS);
  }

  /** @param {any} system */
  #draw(system) {
    this.#refused.hidden = true;
    this.#panels.hidden = false;
    for (const part of [
      this.#summary,
      this.#gateways,
      this.#engines,
      this.#remotes,
      this.#ways,
      this.#apps,
      this.#refusals,
      this.#storage,
      this.#prompts,
    ])
      part.show(system);
  }

  /** @param {unknown} error */
  #explain(error) {
    if (!(error instanceof Refusal) || error.status !== 403) {
      this.#context.fail(error);
      return;
    }
    this.#refused.hidden = false;
    this.#refused.textContent = 'The system is for supervisors and admins.';
    this.#panels.hidden = true;
  }
}
