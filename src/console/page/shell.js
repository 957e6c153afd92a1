/** The frame around the views: shows the one that the address names, its title, and where the focus goes. */
import { part } from './dom.js';
import { addressOf, parseRoute } from './router.js';
import { TABS } from './view.js';

/**
 * @typedef {import('./view.js').View} View
 * @typedef {import('./view.js').ViewName} ViewName
 * @typedef {import('./view.js').Params} Params
 */

export class Shell {
  /** @type {Map<ViewName, View>} */
  #views = new Map();
  /** @type {ViewName | null} */
  #shown = null;
  #title = '';
  /** What was shown before a call was opened. @type {import('./router.js').Route} */
  #origin = { view: 'live', params: {} };
  #onShow;
  #onAddress = () => this.show();

  /** @param {(view: ViewName) => void} onShow called before a view is shown that was not */
  constructor(onShow) {
    this.#onShow = onShow;
  }

  /** @param {ViewName} name @param {View} view */
  add(name, view) {
    view.element.hidden = true;
    this.#views.set(name, view);
    part('view').append(view.element);
    const tab = document.querySelector(`#tabs [data-view="${name}"]`);
    if (tab instanceof HTMLElement) tab.hidden = false;
  }

  /** Shows what the address names, from now on. */
  start() {
    addEventListener('hashchange', this.#onAddress);
    this.show();
  }

  /** Shows what the address names now. */
  show() {
    const { view: asked, params } = parseRoute(location.hash);
    const name = this.#views.has(asked) ? asked : 'live';
    const view = this.#views.get(name);
    if (view === undefined) return;
    const previous = this.#shown;
    if (previous !== null && previous !== name) this.#leave(previous);
    if (previous !== name) this.#onShow(name);
    this.#shown = name;
    this.#noteOrigin(name, params);
    this.#markTab(name);
    view.element.hidden = false;
    view.show(params);
    if (previous !== null && previous !== name) focusHeading(view);
  }

  /** Opens an address, as a link does. @param {ViewName} view @param {Params} [params] */
  go(view, params) {
    const address = addressOf(view, params);
    if (location.hash === address) this.show();
    else location.hash = address;
  }

  /** Changes the address without showing anything else. @param {ViewName} view @param {Params} [params] */
  stay(view, params) {
    history.replaceState(null, '', addressOf(view, params));
    this.#noteOrigin(view, params);
  }

  /** Where a call leads back to: the list from which it was opened, as it was. */
  get origin() {
    return this.#origin;
  }

  /** @param {ViewName} view @param {Params} [params] */
  #noteOrigin(view, params = {}) {
    if (view === 'live' || view === 'history') this.#origin = { view, params };
  }

  /** Opens the tab beside the one that is shown. @param {1 | -1} steps */
  step(steps) {
    const tabs = TABS.filter((name) => this.#views.has(name));
    const at = tabs.indexOf(this.#shown === 'calls' || this.#shown === null ? this.#origin.view : this.#shown);
    const next = tabs[(at + steps + tabs.length) % tabs.length];
    if (next !== undefined) this.go(next);
  }

  /** @param {string} title of the view that is shown; empty = the program's name alone */
  setTitle(title) {
    this.#title = title;
    document.title = title === '' ? 'Trunkline' : `${title} · Trunkline`;
  }

  get title() {
    return this.#title;
  }

  /** @param {ViewName} name */
  #leave(name) {
    const view = this.#views.get(name);
    view?.hide();
    if (view !== undefined) view.element.hidden = true;
  }

  /** @param {ViewName} name */
  #markTab(name) {
    const current = name === 'calls' ? this.#origin.view : name;
    for (const tab of document.querySelectorAll('#tabs [data-view]')) {
      if (tab instanceof HTMLElement && tab.dataset['view'] === current)
        tab.setAttribute('aria-current', name === 'calls' ? 'true' : 'page');
      else tab.removeAttribute('aria-current');
    }
  }
}

/** Somebody who works with the phone stays there, as does whom the view gave the focus. @param {View} view */
function focusHeading(view) {
  const focused = document.activeElement;
  if (view.element.contains(focused) || part('phone').contains(focused)) return;
  const heading = view.element.querySelector('[data-heading]');
  if (heading instanceof HTMLElement) heading.focus({ preventScroll: true });
}
