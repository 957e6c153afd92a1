/** The servers that share a database, where there are several. */
import { make } from '../dom.js';
import { panel, region, state } from './panel.js';
import { formatAgo } from './words.js';

/** @typedef {{ name: string, address: string, state: string, isThis: boolean, live: number, max: number,
 *   firmLoad: number, startedAt: string }} Gateway */

/** Hidden where this server is alone. */
export class Gateways {
  #table = region('table', 'gateways', (gateways) => [
    make(
      'thead',
      {},
      make('tr', {}, ...['Server', 'State', 'Calls', 'Load'].map((name) => make('th', { scope: 'col' }, name))),
    ),
    make('tbody', {}, ...gateways.map(showGateway)),
  ]);
  element = panel('gateways', 'Servers', this.#table.element);

  /** @param {any} system the answer of /v1/system */
  show({ gateways = [] }) {
    this.element.hidden = gateways.length === 0;
    this.#table.show(gateways);
  }
}

/** @param {Gateway} gateway */
function showGateway({ name, address, state: now, isThis, live, max, firmLoad, startedAt }) {
  return make(
    'tr',
    {},
    make(
      'th',
      { scope: 'row' },
      isThis ? `${name} (this one)` : name,
      make('div', { class: 'panel-note' }, `${address} · started ${formatAgo(startedAt, new Date())}`),
    ),
    make('td', {}, showState(now, live >= max || firmLoad >= 0.9)),
    make('td', { class: 'number' }, `${live} of ${max}`),
    make('td', { class: 'number' }, `${Math.round(firmLoad * 100)} %`),
  );
}

/** @param {string} now @param {boolean} isFull */
function showState(now, isFull) {
  if (now !== 'serving') return state('warn', now);
  return state(isFull ? 'warn' : 'ok', isFull ? 'full' : 'serving');
}
