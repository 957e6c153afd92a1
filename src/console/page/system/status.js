/** The panels that are drawn every few seconds: engines, ways in, apps, refusals, disk. */
import { make } from '../dom.js';
import { panel, region, state } from './panel.js';
import { countOf, formatAgo, formatBytes, formatSeconds, formatSpan, serverTime } from './words.js';

/** The calls of the last polls, as bars. */
const BARS_MAX = 60;
const BAR_STEPS = '▁▂▃▄▅▆▇█';

const STATES = /** @type {const} */ ({
  ready: ['ok', 'Ready'],
  starting: ['warn', 'Starting'],
  draining: ['warn', 'Shutting down'],
  failed: ['fail', 'Engines cannot start'],
});

/** The figures at the top. */
export class Summary {
  /** @type {number[]} */
  #live = [];
  #state = region('p', 'summary-state', ({ state: now, version, upMinutes }) => {
    const [level, words] = STATES[/** @type {keyof typeof STATES} */ (now)] ?? ['warn', now];
    const up = upMinutes === 0 ? 'less than a minute' : formatSpan(upMinutes * 60_000);
    return [state(level, words), make('span', {}, `up ${up} · version ${version}`)];
  });
  #figures = region('dl', 'figures', (figures) =>
    figures.map((/** @type {{ name: string, value: string, note: string, level: string }} */ figure) =>
      make(
        'div',
        { 'data-level': figure.level },
        make('dt', {}, figure.name),
        make('dd', {}, make('b', {}, figure.value), figure.note === '' ? null : make('small', {}, figure.note)),
      ),
    ),
  );
  element = make('div', { class: 'summary' }, this.#state.element, this.#figures.element);

  /** @param {any} system the answer of /v1/system */
  show(system) {
    const { calls, finalLag, partialsDropped, queue } = system;
    this.#live = [...this.#live, calls.live].slice(-BARS_MAX);
    this.#state.show({
      state: system.state,
      version: system.version,
      upMinutes: Math.floor(system.uptimeMs / 60_000),
    });
    const waiting = queue.reduce((/** @type {number} */ sum, /** @type {any} */ each) => sum + each.waiting, 0);
    this.#figures.show([
      figure('Calls now', `${calls.live} of ${calls.max}`, bars(this.#live, calls.max), calls.live >= calls.max),
      figure('Most at once', String(calls.peak), 'since the start'),
      figure('Calls today', String(calls.today)),
      figure('Finals, p95', formatSeconds(finalLag.p95Ms), lagNote(finalLag), (finalLag.p95Ms ?? 0) > 1000),
      figure('Partials dropped', String(partialsDropped), 'since the start'),
      figure('Jobs waiting', String(waiting), '', waiting > 20),
    ]);
  }
}

/** @param {string} name @param {string} value @param {string} [note] @param {boolean} [isBad] */
function figure(name, value, note = '', isBad = false) {
  return { name, value, note, level: isBad ? 'warn' : 'ok' };
}

/** @param {{ finals: number, p50Ms: number | null }} lag */
function lagNote({ finals, p50Ms }) {
  return finals === 0 ? 'no finals in 5 min' : `p50 ${formatSeconds(p50Ms)}, ${countOf(finals, 'final')} in 5 min`;
}

/** @param {number[]} values @param {number} max @returns {string} */
function bars(values, max) {
  if (values.length < 2) return '';
  const top = Math.max(...values, Math.min(max, 4), 1);
  return values
    .slice(-24)
    .map((value) => BAR_STEPS[Math.round((value / top) * (BAR_STEPS.length - 1))])
    .join('');
}

/**
 * @param {any} way @param {Date} now
 * @returns {{ name: string, level: 'ok' | 'warn' | 'fail' | 'none', words: string, note: string }}
 */
function describeWay(way, now) {
  const worked = way.workedAt === null ? '' : `worked ${formatAgo(way.workedAt, now)}`;
  const failed = way.failure === null ? '' : `failed ${formatAgo(way.failure.at, now)}: ${way.failure.reason}`;
  const { isFailing } = way;
  const notes = isFailing ? [failed, worked] : [worked, failed];
  const protection = PROTECTIONS.get(way.protection) ?? '';
  const words = !way.open
    ? way.configured
      ? 'not connected'
      : `closed: set ${way.settings[0]}`
    : isFailing
      ? 'failing'
      : protection || 'open';
  const level = isFailing
    ? 'fail'
    : !way.open
      ? way.configured
        ? 'fail'
        : 'none'
      : way.workedAt === null
        ? 'none'
        : 'ok';
  return { name: way.name, level, words, note: notes.filter((note) => note !== '').join(' · ') || 'not used yet' };
}

const PROTECTIONS = new Map([
  ['secret', 'locked'],
  ['addresses', 'listed addresses'],
  ['local', 'this machine only'],
  ['nobody', 'open to everybody'],
]);

/** Those that are set up or were used come first; the rest are one line. */
export class WaysIn {
  #list = region('table', 'ways', (ways) => [
    make('caption', { class: 'aside' }, 'Ways in'),
    make('tbody', {}, ...ways.map(showWay)),
  ]);
  #unused = region('p', 'panel-note', ([names]) => [names]);
  element = panel('ways', 'Ways in', this.#list.element, this.#unused.element);

  /** @param {any} system */
  show({ waysIn, sipTrunks = [], ...system }) {
    const now = serverTime(system);
    const matters = (/** @type {any} */ way) =>
      way.configured || way.workedAt !== null || way.failure !== null || way.id === 'twilio_webhook';
    const [used, unused] = [waysIn.filter(matters), waysIn.filter((/** @type {any} */ way) => !matters(way))];
    this.#list.show([...used.map((/** @type {any} */ way) => describeWay(way, now)), ...sipTrunks.map(describeTrunk)]);
    const names = unused.map((/** @type {any} */ way) => way.name).join(', ');
    this.#unused.show([names === '' ? '' : `Not set up or never used: ${names}.`]);
  }
}

/** @param {{ name: string, registered: boolean | null, up: boolean | null }} trunk */
function describeTrunk({ name, registered, up }) {
  const note = registered === null ? 'calls go out over it' : registered ? 'registered' : 'not registered';
  const [level, words] = up === null ? ['none', 'not known'] : up ? ['ok', 'answers'] : ['fail', 'does not answer'];
  return { name: `SIP trunk ${name}`, level, words, note };
}

/** @param {ReturnType<typeof describeWay>} way */
function showWay({ name, level, words, note }) {
  return make(
    'tr',
    {},
    make('th', { scope: 'row' }, name),
    make('td', {}, state(level, words)),
    make('td', { class: 'quiet' }, note),
  );
}

/** What was refused, and what to do about it. */
export class Refusals {
  #list = region('dl', 'refusals', (refused) =>
    refused.length === 0
      ? [make('div', {}, make('dt', {}, state('ok', 'Nothing was refused')), make('dd', {}, 'since the start'))]
      : refused.map(showRefusal),
  );
  element = panel('refused', 'Refused', this.#list.element);

  /** @param {any} system */
  show({ refused }) {
    this.#list.show(refused.filter((/** @type {any} */ { remedy, refuses }) => remedy !== null || refuses === 'calls'));
  }
}

/** @param {{ code: string, count: number, remedy: string | null }} refusal */
function showRefusal({ code, count, remedy }) {
  return make(
    'div',
    {},
    make('dt', {}, make('code', {}, code), make('span', { class: 'number' }, `${count} ×`)),
    make('dd', {}, remedy ?? ''),
  );
}

/** Disk, records, and where speech goes. */
export class Storage {
  #disk = region('table', 'disk', ({ parts, freeBytes }) => [
    make('caption', { class: 'aside' }, 'Disk'),
    make('tbody', {}, ...parts.map(showPart), freeBytes === null ? null : showFree(freeBytes)),
  ]);
  #records = region('p', 'panel-note', (records) => [describeRecords(records)]);
  #warnings = region('p', 'panel-note', (warnings) =>
    warnings.map((/** @type {string} */ text) => state('fail', text)),
  );
  #folder = region('p', 'panel-note', ([folder]) => [folder === null ? '' : make('code', {}, folder)]);
  #departures = region('p', 'panel-note', (departures) => [describeDepartures(departures)]);
  element = panel(
    'disk',
    'Records and disk',
    this.#warnings.element,
    this.#records.element,
    this.#disk.element,
    this.#folder.element,
    this.#departures.element,
  );

  /** @param {any} system */
  show({ disk, records, departures }) {
    this.#disk.show(disk);
    this.#records.show(records);
    this.#warnings.show(records?.warnings ?? []);
    this.#folder.show([disk.folder]);
    this.#departures.show(departures);
  }
}

/** @param {{ name: string, bytes: number, isCut: boolean }} part */
function showPart({ name, bytes, isCut }) {
  const size = `${isCut ? 'more than ' : ''}${formatBytes(bytes)}`;
  return make('tr', {}, make('th', { scope: 'row' }, name), make('td', { class: 'number' }, size));
}

/** @param {number} bytes */
function showFree(bytes) {
  return make(
    'tr',
    { class: 'free' },
    make('th', { scope: 'row' }, 'free'),
    make('td', { class: 'number' }, formatBytes(bytes)),
  );
}

/** @param {any} records */
function describeRecords(records) {
  if (records === null) return 'Nothing is kept of calls: set DATA_DIR to a folder, or DATABASE_URL.';
  const days = records.retentionDays === 0 ? 'for ever' : `for ${records.retentionDays} days`;
  const oldest = records.oldestAt === null ? '' : `, the oldest of ${new Date(records.oldestAt).toLocaleDateString()}`;
  const backlog = records.backlog > 100 ? ` · ${records.backlog} events wait to be stored` : '';
  const lost = records.lost > 0 ? ` · ${records.lost} events were lost` : '';
  const kind = records.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  const calls = records.calls === null ? 'Calls' : countOf(records.calls, 'call');
  return `${calls} in ${kind}, kept ${days}${oldest}${backlog}${lost}`;
}

/** @param {{ what: string, to: string, leavesMachine: boolean }[]} departures */
function describeDepartures(departures) {
  const out = departures.filter(({ leavesMachine }) => leavesMachine);
  if (out.length === 0) return state('ok', 'No speech and no text leaves this machine');
  return state('warn', `Leaves this machine: ${out.map(({ what, to }) => `${what} to ${to}`).join(', ')}`);
}
