/** The engines: which recognisers they have, how they are, what waits for them. */
import { make } from '../dom.js';
import { languageName } from '../languages.js';
import { panel, region, state } from './panel.js';
import { countOf, formatAgo, serverTime } from './words.js';

/** What urgencies mean to people. */
const QUEUES = new Map([
  ['detect', 'voice detection'],
  ['final', 'final captions'],
  ['speak', 'speech'],
  ['turn', 'turns'],
  ['eager', 'early finals'],
  ['partial', 'partial captions'],
  ['batch', 'recordings'],
]);

/** Engines and their queue. */
export class Engines {
  #models = region('p', 'panel-note', ({ models, provider, voice }) =>
    models === null
      ? ['No engine has been ready yet.']
      : [`On ${provider} · speech ${models.tts}${voice === null ? '' : `, voice ${voice}`}`],
  );
  #recognisers = region('ul', 'recognisers', (recognisers) => recognisers.map(showRecogniser));
  #fallbacks = region('p', 'panel-note', (fallbacks) => describeFallbacks(fallbacks));
  #list = region('ul', 'engines', (engines) => engines.map(showEngine));
  #queue = region('p', 'panel-note', (queue) => [describeQueue(queue)]);
  element = panel(
    'engines',
    'Engines',
    this.#recognisers.element,
    this.#fallbacks.element,
    this.#models.element,
    this.#list.element,
    this.#queue.element,
  );

  /** @param {any} system */
  show({ engines, models, recognisers, fallbacks, provider, voice, queue, ...system }) {
    this.#models.show({ models, provider, voice });
    this.#recognisers.show(recognisers);
    this.#fallbacks.show({ fallbacks, hasTwo: recognisers.length > 1 });
    const hasTwo = recognisers.length > 1;
    const hasGpu = engines.some((/** @type {any} */ { device }) => device !== null && device !== 'cpu');
    const now = serverTime(system);
    this.#list.show(
      engines.map((/** @type {any} */ engine, /** @type {number} */ index) => ({
        number: index + 1,
        reads: hasTwo ? READS_OF_ENGINES[/** @type {'live' | 'final'} */ (engine.role)] : '',
        device: hasGpu && engine.device !== null ? engine.device : '',
        state: engine.state,
        busyPercent: Math.round(engine.busyShare * 100),
        restarts: engine.restarts,
        restart:
          engine.lastRestart === null
            ? ''
            : `, the last ${formatAgo(engine.lastRestart.at, now)}: ${engine.lastRestart.reason}`,
      })),
    );
    this.#queue.show(queue);
  }
}

/** What the engines of each role read. */
const READS_OF_ENGINES = { live: 'live', final: 'finals' };

const READS = new Map([
  ['everything', 'all captions'],
  ['partials', 'live captions'],
  ['finals', 'final captions'],
]);

const RECOGNISER_STATES = /** @type {const} */ ({
  ready: ['ok', 'ready'],
  starting: ['warn', 'starting'],
  stopped: ['none', 'starts when needed'],
  missing: ['fail', 'cannot be started'],
});

/**
 * @param {{ reads: string, name: string, languages: string[] | null, ready: number, workers: number,
 *   state: keyof typeof RECOGNISER_STATES }} recogniser
 */
function showRecogniser({ reads, name, languages, ready, workers, state: now }) {
  const [level, words] = RECOGNISER_STATES[now];
  const count = now === 'ready' && ready < workers ? `${ready} of ${workers} ${words}` : words;
  return make(
    'li',
    {},
    make('span', { class: 'reads' }, READS.get(reads) ?? reads),
    make('b', {}, name),
    state(now === 'ready' && ready < workers ? 'warn' : level, count),
    make('span', { class: 'quiet' }, languages === null ? '' : describeLanguages(languages)),
  );
}

/** Languages that are named; of more of them, their number. */
const LANGUAGES_NAMED = 4;

/** @param {string[]} languages BCP-47 */
export function describeLanguages(languages) {
  const names = languages.map(languageName);
  if (names.length <= LANGUAGES_NAMED) return names.join(', ');
  return `${names.slice(0, LANGUAGES_NAMED - 1).join(', ')} and ${names.length - LANGUAGES_NAMED + 1} more languages`;
}

/** Why the better recogniser did not write a final, in the words of the page. */
const FALLBACKS = new Map([
  ['late', 'took too long'],
  ['busy', 'was too busy'],
  ['not_ready', 'was not ready'],
  ['failed', 'failed'],
]);

/** @param {{ fallbacks: { reason: string, count: number }[], hasTwo: boolean }} data */
function describeFallbacks({ fallbacks, hasTwo }) {
  if (!hasTwo) return [];
  const all = fallbacks.reduce((sum, { count }) => sum + count, 0);
  if (all === 0) return ['The recogniser of final captions has written them all.'];
  const reasons = fallbacks
    .toSorted((a, b) => b.count - a.count)
    .map(({ reason, count }) => `${FALLBACKS.get(reason) ?? reason} ${count}\u00a0×`);
  return [
    `The recogniser of live captions wrote ${countOf(all, 'final')} instead: the other one ${reasons.join(', ')}.`,
  ];
}

const ENGINE_STATES = /** @type {const} */ ({
  ready: ['ok', 'ready'],
  starting: ['warn', 'starting'],
  stopped: ['none', 'stopped'],
  silent: ['fail', 'gives no sign of life'],
});

/**
 * @param {{ number: number, reads: string, device: string, state: keyof typeof ENGINE_STATES, busyPercent: number,
 *   restarts: number, restart: string }} engine
 */
function showEngine({ number, reads, device, state: now, busyPercent, restarts, restart }) {
  const [level, words] = ENGINE_STATES[now];
  const notes = [reads, device].filter((note) => note !== '').join(' · ');
  return make(
    'li',
    {},
    make('b', {}, String(number)),
    make('span', {}, state(level, words), notes === '' ? null : make('span', { class: 'engine-reads' }, `· ${notes}`)),
    make('meter', {
      min: 0,
      max: 100,
      high: 85,
      optimum: 0,
      value: busyPercent,
      'aria-label': `Engine ${number} is busy ${busyPercent} % of its time`,
    }),
    make('span', { class: 'number' }, `${busyPercent} %`),
    make('span', { class: 'quiet' }, restarts === 0 ? 'no restarts' : `${countOf(restarts, 'restart')}${restart}`),
  );
}

/** @param {{ urgency: string, waiting: number, assigned: number }[]} queue */
function describeQueue(queue) {
  const busy = queue.filter(({ waiting, assigned }) => waiting + assigned > 0);
  if (busy.length === 0) return 'Queue: nothing waits.';
  const parts = busy.map(
    ({ urgency, waiting, assigned }) =>
      `${QUEUES.get(urgency) ?? urgency} ${waiting + assigned}${waiting === 0 ? '' : ` (${waiting} waiting)`}`,
  );
  return `Queue: ${parts.join(' · ')}`;
}
