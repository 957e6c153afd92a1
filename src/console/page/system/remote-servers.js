/** The servers that recognise or speak for this one, where there are any. */
import { make } from '../dom.js';
import { describeLanguages } from './engines.js';
import { panel, region, state } from './panel.js';
import { formatAgo, serverTime } from './words.js';

/** @typedef {{ setting: string, url: string, state: string, inFlight: number, inFlightMax: number,
 *   p50Ms: number | null, p95Ms: number | null, lastError: string, languages: string[] }} RemoteServer */

const WORK = new Map([
  ['ASR_URL', 'reads'],
  ['TTS_URL', 'speaks'],
]);

const STATES = /** @type {const} */ ({
  closed: ['ok', 'in use'],
  half_open: ['warn', 'is tried again'],
  open: ['fail', 'left alone'],
});

/** Hidden where this server reads and speaks everything itself. */
export class RemoteServers {
  #table = region('table', 'remotes', (servers) => [
    make(
      'thead',
      {},
      make('tr', {}, ...['Server', 'State', 'Requests', 'p50, p95'].map((name) => make('th', { scope: 'col' }, name))),
    ),
    make('tbody', {}, ...servers.map(showServer)),
  ]);
  element = panel('remotes', 'Remote recognisers and voices', this.#table.element);

  /** @param {any} system the answer of /v1/system */
  show({ servers = [], ...system }) {
    this.element.hidden = servers.length === 0;
    const now = serverTime(system);
    this.#table.show(
      servers.map((/** @type {any} */ { lastError, ...server }) => ({
        ...server,
        lastError: lastError === null ? '' : `failed ${formatAgo(lastError.at, now)}: ${lastError.message}`,
      })),
    );
  }
}

/** @param {RemoteServer} server */
function showServer({ setting, url, state: now, inFlight, inFlightMax, p50Ms, p95Ms, lastError, languages }) {
  const [level, words] = STATES[/** @type {keyof typeof STATES} */ (now)] ?? ['warn', now];
  const work = WORK.get(setting) ?? setting;
  const what = languages.length === 0 ? work : `${work} ${describeLanguages(languages)}`;
  return make(
    'tr',
    {},
    make(
      'th',
      { scope: 'row' },
      url,
      make('div', { class: 'panel-note' }, lastError === '' ? what : `${what} · ${lastError}`),
    ),
    make('td', {}, state(level, words)),
    make('td', { class: 'number' }, `${inFlight} of ${inFlightMax}`),
    make('td', { class: 'number' }, describeTimes(p50Ms, p95Ms)),
  );
}

/** @param {number | null} p50Ms @param {number | null} p95Ms null = not known */
function describeTimes(p50Ms, p95Ms) {
  return p50Ms === null || p95Ms === null ? '–' : `${Math.round(p50Ms)}, ${Math.round(p95Ms)} ms`;
}
