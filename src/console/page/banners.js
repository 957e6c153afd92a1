/** What everybody must know at once: the server does not answer, or has too much to do. */
import { formatLag } from './calls.js';
import { part, setText } from './dom.js';

const LOOK_MS = 1000;
/** The feed may be quiet for so long before what is shown counts as old. */
const LOST_AFTER_MS = 2000;
/** So many calls with late captions are the server's fault, not a call's. */
const OVERLOADED_CALLS = 3;

/**
 * @typedef {import('./call-store.js').CallStore} CallStore
 * @typedef {import('./feed.js').SharedFeed} SharedFeed
 */

export class Banners {
  #store;
  #feed;
  /** `performance.now()` of when the connection broke; null = it stands. @type {number | null} */
  #lostAtMs = null;
  /** Whether the server answered the last request; null before the first. @type {boolean | null} */
  answers = null;
  /** A key is wanted before anything else. */
  locked = false;

  /** @param {{ store: CallStore, feed: SharedFeed }} parts */
  constructor({ store, feed }) {
    this.#store = store;
    this.#feed = feed;
    feed.onState(() => this.show());
    setInterval(() => this.show(), LOOK_MS);
  }

  /** @param {string} problem the server's own words; empty = none */
  setProblem(problem) {
    setBanner('problem', problem);
  }

  show() {
    const [state, words] = this.#nameConnection();
    part('connection').dataset['state'] = state;
    setText(part('connection-words'), words);
    this.#showLost(state === 'reconnecting');
    setBanner('overload', this.locked ? '' : this.#explainOverload());
  }

  /** @param {boolean} isLost */
  #showLost(isLost) {
    const nowMs = performance.now();
    if (!isLost) this.#lostAtMs = null;
    else this.#lostAtMs ??= nowMs;
    const isTold = this.#lostAtMs !== null && nowMs - this.#lostAtMs >= LOST_AFTER_MS;
    part('lost').hidden = !isTold;
    if (!isTold) return;
    // The age stands apart, and is not read out each second.
    setText(part('lost-words'), 'The server does not answer. What you see is no longer live.');
    setText(
      part('lost-age'),
      this.#store.freshAtMs === 0 ? '' : `It is ${formatAge(nowMs - this.#store.freshAtMs)} old.`,
    );
  }

  #explainOverload() {
    const lagsMs = this.#store.calls.map((call) => call.slowMs).filter((slowMs) => slowMs > 0);
    if (lagsMs.length < OVERLOADED_CALLS) return '';
    const worst = formatLag(Math.max(...lagsMs));
    return `The server has too much to do: captions of ${lagsMs.length} calls are up to ${worst} late.`;
  }

  /** Its state for the style and in words. @returns {[state: string, words: string]} */
  #nameConnection() {
    if (this.locked) return ['locked', 'Locked'];
    if (this.answers === false) return ['reconnecting', 'Reconnecting…'];
    if (this.#feed.state === 'open') return ['live', 'Connected'];
    if (this.#feed.state === 'broken') return ['reconnecting', 'Reconnecting…'];
    return ['connecting', 'Connecting…'];
  }
}

/** @param {string} id @param {string} words empty = nothing to tell */
function setBanner(id, words) {
  setText(part(id), words);
  part(id).hidden = words === '';
}

/** @param {number} ms @returns {string} */
function formatAge(ms) {
  const seconds = Math.round(ms / 1000);
  return seconds < 90 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`;
}
