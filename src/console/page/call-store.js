/**
 * The calls of now and of the last minutes, for all views: lists bring them, the events of the feed keep them up.
 * Listeners are told once per frame which calls have changed, however many events came.
 */
import { getJson, Refusal } from './gateway.js';
import { LiveCall } from './live-call.js';

/**
 * @typedef {import('./calls.js').CallView} CallView
 * @typedef {import('./feed.js').SharedFeed} SharedFeed
 */

/** Lists of calls mend what the feed did not tell; it tells nearly everything. */
const SYNC_MS = 4000;
const CALLS_MAX = 1000;
/** Events that wait for the first list; what is more is in the next one. */
const EARLY_MAX = 5000;
/** Calls that ended stay for so long. */
const ENDED_KEPT_MS = 120_000;

export class CallStore {
  /** @type {Map<string, LiveCall>} */
  #calls = new Map();
  /** @type {Set<(changed: ReadonlySet<string>) => void>} */
  #listeners = new Set();
  /** @type {Set<string>} */
  #changed = new Set();
  #frame = 0;
  /** `performance.now()` of the last list or event; 0 = there was none. */
  #freshAtMs = 0;
  /** Events that came before the first list; null = it has come. @type {any[] | null} */
  #early = [];
  /** The server knows `state=`. */
  #listsByState = true;
  #timer = 0;

  /**
   * @param {SharedFeed} feed @param {(error: unknown) => void} fail is told why a list did not come; null = it came
   */
  constructor(feed, fail) {
    this.fail = fail;
    feed.onEvent((event) => this.#apply(event));
    feed.onState((state) => {
      if (state === 'open') void this.sync();
    });
    document.addEventListener('visibilitychange', () => void this.sync());
  }

  /** In the order in which they began. @returns {LiveCall[]} */
  get calls() {
    return [...this.#calls.values()];
  }

  /** `performance.now()` of when the server last told something of calls; 0 = never. */
  get freshAtMs() {
    return this.#freshAtMs;
  }

  /** @param {string} id @returns {LiveCall | undefined} */
  get(id) {
    return this.#calls.get(id);
  }

  /**
   * @param {(changed: ReadonlySet<string>) => void} listener gets the ids of calls that have changed, come or gone
   * @returns {() => void} ends that
   */
  onChange(listener) {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Asks for lists from now on. */
  start() {
    if (this.#timer === 0) this.#timer = setInterval(() => void this.sync(), SYNC_MS);
    return this.sync();
  }

  stop() {
    clearInterval(this.#timer);
    this.#timer = 0;
  }

  /** Asks for the list of calls now, unless nobody sees the page. */
  async sync() {
    if (document.hidden || this.#timer === 0) return;
    const askedAtMs = performance.now();
    try {
      this.#take(await this.#list(), askedAtMs);
      this.fail(null);
    } catch (error) {
      this.fail(error);
    }
  }

  /** @returns {Promise<CallView[]>} */
  async #list() {
    const path = `/v1/calls?limit=${CALLS_MAX}`;
    if (!this.#listsByState) return (await getJson(path)).data;
    try {
      const [live, dialing] = await Promise.all([getJson(`${path}&state=live`), getJson(`${path}&state=dialing`)]);
      return [...dialing.data, ...live.data];
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 400) throw error;
      this.#listsByState = false;
      return this.#list();
    }
  }

  /** @param {readonly CallView[]} views @param {number} askedAtMs */
  #take(views, askedAtMs) {
    const nowMs = performance.now();
    this.#freshAtMs = nowMs;
    const listed = new Set(views.map(({ id }) => id));
    for (const view of views) this.#takeOne(view, nowMs, askedAtMs);
    this.#applyEarly();
    for (const [id, call] of this.#calls) {
      const isOld = call.endedAtMs !== null && nowMs - call.endedAtMs > ENDED_KEPT_MS;
      const isGone = call.endedAtMs === null && !listed.has(id) && call.knownSinceMs < askedAtMs;
      if (isGone || isOld) this.#forget(id);
    }
    this.#tell();
  }

  /** @param {CallView} view @param {number} nowMs @param {number} askedAtMs */
  #takeOne(view, nowMs, askedAtMs) {
    const call = this.#calls.get(view.id);
    if (call === undefined) {
      if (view.state === 'ended') return;
      this.#calls.set(view.id, new LiveCall(view, nowMs));
      this.#changed.add(view.id);
    } else if (call.take(view, nowMs, askedAtMs)) this.#changed.add(view.id);
  }

  /** @param {string} id */
  #forget(id) {
    this.#calls.delete(id);
    this.#changed.add(id);
  }

  #applyEarly() {
    const early = this.#early ?? [];
    this.#early = null;
    for (const event of early) this.#apply(event);
  }

  /** @param {any} event */
  #apply(event) {
    const nowMs = performance.now();
    this.#freshAtMs = nowMs;
    if (this.#early !== null && !this.#calls.has(event.callId) && !begins(event)) {
      if (this.#early.length < EARLY_MAX) this.#early.push(event);
      return;
    }
    if (begins(event) && !this.#calls.has(event.callId))
      this.#calls.set(event.callId, new LiveCall(viewOf(event), nowMs));
    if (event.type === 'call.deleted') this.#forget(event.callId);
    const call = this.#calls.get(event.callId);
    if (call !== undefined && (call.apply(event, nowMs) || begins(event))) this.#changed.add(event.callId);
    this.#tell();
  }

  #tell() {
    if (this.#changed.size === 0 || this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      const changed = this.#changed;
      this.#changed = new Set();
      for (const listener of this.#listeners) listener(changed);
    });
  }
}

/** A call that we make rings first. @param {any} event */
function begins({ type, state, startedAt }) {
  return type === 'call.started' || (type === 'call.state' && state === 'ringing' && startedAt !== undefined);
}

/** A call as its first event tells it. @param {any} event @returns {CallView} */
function viewOf({ type, callId, carrier, from, to, startedAt, tracks, names, agent, queue, app }) {
  return {
    id: callId,
    carrier,
    from,
    to,
    state: type === 'call.started' ? 'live' : 'dialing',
    phase: type === 'call.started' ? 'live' : 'ringing',
    startedAt,
    endedAt: null,
    endReason: null,
    tracks: tracks ?? [],
    names: names ?? { inbound: null, outbound: null },
    agent: agent ?? null,
    queue: queue ?? null,
    app: app ?? null,
    lagMs: null,
    durationMs: 0,
  };
}
