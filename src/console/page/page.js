/**
 * The page: makes what its views share and the views, and deals with errors for them. Whatever a call says enters the
 * document as text, never as markup.
 */
import { Banners } from './banners.js';
import { OneCallView } from './call/call-view.js';
import { CallStore } from './call-store.js';
import { part, setText } from './dom.js';
import { SharedFeed } from './feed.js';
import { FlowsView } from './flows/flows-view.js';
import { explainError, KeyWanted, NoAnswer } from './gateway.js';
import { HistoryView } from './history/history-view.js';
import { LiveView } from './live/live-view.js';
import { Phone } from './phone.js';
import { PhoneView } from './phone-view.js';
import { Preferences } from './preferences.js';
import { Session } from './session.js';
import { Shell } from './shell.js';
import { Shortcuts } from './shortcuts.js';
import { SignIn } from './sign-in.js';
import { SystemView } from './system/system-view.js';
import { Toasts } from './toasts.js';

/** @typedef {import('./view.js').ViewContext} ViewContext */

class Page {
  #preferences = new Preferences();
  #session = new Session();
  #feed = new SharedFeed();
  #toasts = new Toasts(part('toasts'));
  #store = new CallStore(this.#feed, (error) => this.#noteAnswer(error));
  #banners = new Banners({ store: this.#store, feed: this.#feed });
  #shell = new Shell((view) => this.#prepare(view));
  #signIn = new SignIn(this.#session, () => void this.#open());
  #phone = new Phone({
    onLive: (id) => this.#shell.go('calls', { id }),
    onKeyWanted: (error) => this.#fail(error),
  });
  #shortcuts = new Shortcuts([
    { keys: '1', words: 'Live', run: () => this.#shell.go('live') },
    { keys: '2', words: 'History', run: () => this.#shell.go('history') },
    { keys: '3', words: 'Phone', run: () => this.#shell.go('phone') },
    { keys: '4', words: 'Flows', run: () => this.#shell.go('flows') },
    { keys: '5', words: 'System', run: () => this.#shell.go('system') },
    { keys: '+', words: 'Larger text', run: () => this.#resize(1) },
    { keys: '-', words: 'Smaller text', run: () => this.#resize(-1) },
  ]);

  async start() {
    this.#preferences.apply();
    this.#showTools();
    part('help-button').addEventListener('click', () => this.#shortcuts.showHelp());
    part('theme').addEventListener('click', () => {
      this.#preferences.changeTheme();
      this.#showTools();
    });
    part('smaller').addEventListener('click', () => this.#resize(-1));
    part('larger').addEventListener('click', () => this.#resize(1));
    part('sign-out').addEventListener('click', () => void this.#signOut());
    this.#session.onChange(() => this.#showPerson());
    this.#addViews();
    await this.#open();
  }

  #addViews() {
    /** @type {ViewContext} */
    const context = {
      store: this.#store,
      feed: this.#feed,
      session: this.#session,
      preferences: this.#preferences,
      toast: (words, kind) => this.#toasts.show(words, kind),
      fail: (error) => this.#fail(error),
      go: (view, params) => this.#shell.go(view, params),
      stay: (view, params) => this.#shell.stay(view, params),
      origin: () => this.#shell.origin,
      setTitle: (title) => this.#shell.setTitle(title),
      setShortcuts: (shortcuts) => this.#shortcuts.setView(shortcuts),
    };
    this.#shell.add('live', new LiveView(context));
    this.#shell.add('calls', new OneCallView(context));
    this.#shell.add('history', new HistoryView(context));
    this.#shell.add('phone', new PhoneView(context, this.#phone));
    this.#shell.add('flows', new FlowsView(context));
    this.#shell.add('system', new SystemView(context));
  }

  /** Begins to work, or goes on after somebody has signed in. */
  async #open() {
    this.#banners.locked = false;
    document.body.dataset['locked'] = 'false';
    part('view').hidden = false;
    await this.#session.load().catch((error) => this.#fail(error));
    if (this.#banners.locked) return;
    this.#feed.open();
    void this.#store.start();
    this.#shell.start();
    if (document.activeElement === document.body) focusFirstHeading();
  }

  /** @param {import('./view.js').ViewName} view */
  #prepare(view) {
    this.#shortcuts.setView([]);
    document.body.dataset['view'] = view;
    this.#phone.forget();
  }

  /** @param {unknown} error null = the server has answered as it should */
  #noteAnswer(error) {
    if (error === null) this.#banners.answers = true;
    if (error === null) this.#banners.setProblem('');
    if (error instanceof KeyWanted || error instanceof NoAnswer) this.#fail(error);
    else if (error !== null) this.#banners.setProblem(explainError(error));
    this.#banners.show();
  }

  /** @param {unknown} error */
  #fail(error) {
    if (error instanceof KeyWanted) this.#lock();
    else if (error instanceof NoAnswer) this.#banners.answers = false;
    if (!(error instanceof KeyWanted) && (!(error instanceof NoAnswer) || error.isDeed))
      this.#toasts.show(explainError(error), 'problem');
    this.#banners.show();
  }

  #lock() {
    this.#banners.answers = true;
    this.#banners.locked = true;
    document.body.dataset['locked'] = 'true';
    this.#feed.close();
    this.#store.stop();
    this.#phone.hangUp();
    part('view').hidden = true;
    this.#signIn.show();
  }

  /** @param {1 | -1} steps */
  #resize(steps) {
    this.#toasts.show(`Text size ${this.#preferences.changeSize(steps)} %`);
  }

  #showTools() {
    const { theme } = this.#preferences;
    part('theme').dataset['theme'] = theme;
    part('theme').setAttribute('aria-label', `Theme: ${theme}`);
    part('theme').title = `Theme: ${theme}`;
  }

  #showPerson() {
    const { person } = this.#session;
    const canSignOut = person?.canSignOut === true;
    const words = person === null ? '' : `${person.name} · ${person.role}`;
    part('person').hidden = person === null || canSignOut;
    setText(part('person'), words);
    part('account').hidden = !canSignOut;
    this.#offerTab('system', this.#session.may('system'));
    this.#offerTab('flows', this.#session.may('flows.read'));
    setText(part('account'), words);
    setText(part('account-words'), `Signed in as ${words}`);
  }

  /** @param {import('./view.js').ViewName} view @param {boolean} isOffered */
  #offerTab(view, isOffered) {
    const tab = document.querySelector(`#tabs [data-view="${view}"]`);
    if (tab instanceof HTMLElement) tab.hidden = !isOffered;
  }

  /** What was shown is gone with the page, for whoever signs in next. */
  async #signOut() {
    try {
      await this.#session.signOut();
    } catch (error) {
      this.#fail(error);
      return;
    }
    history.replaceState(null, '', location.pathname);
    location.reload();
  }
}

function focusFirstHeading() {
  const heading = document.querySelector('#view > :not([hidden]) [data-heading]');
  if (heading instanceof HTMLElement) heading.focus({ preventScroll: true });
}

void new Page().start();
