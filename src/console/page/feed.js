/**
 * The one caption feed of the page: the events of all calls. The browser takes a broken feed up again by itself, after
 * the last event it saw; a refused one is opened again here.
 */

/** A browser does not try a refused feed again: the page does, after this. */
const REOPEN_MS = 3000;

/** @typedef {'closed' | 'connecting' | 'open' | 'broken'} FeedState */

export class SharedFeed {
  /** @type {EventSource | null} */
  #source = null;
  /** @type {FeedState} */
  #state = 'closed';
  #lastId = '';
  /** @type {Set<(event: any) => void>} */
  #readers = new Set();
  /** @type {Set<(state: FeedState) => void>} */
  #watchers = new Set();

  /** @returns {FeedState} */
  get state() {
    return this.#state;
  }

  /** @param {(event: any) => void} reader gets each event @returns {() => void} ends that */
  onEvent(reader) {
    this.#readers.add(reader);
    return () => void this.#readers.delete(reader);
  }

  /** @param {(state: FeedState) => void} watcher @returns {() => void} ends that */
  onState(watcher) {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** Opens it, unless it is open or about to be. */
  open() {
    if (this.#source !== null) return;
    const after = this.#lastId === '' ? '' : `?after=${encodeURIComponent(this.#lastId)}`;
    const source = new EventSource(`/v1/captions${after}`);
    this.#source = source;
    this.#become(this.#state === 'closed' ? 'connecting' : 'broken');
    source.addEventListener('open', () => this.#become('open'));
    source.addEventListener('message', (message) => this.#deliver(message));
    source.addEventListener('error', () => {
      if (this.#source !== source) return;
      this.#become('broken');
      if (source.readyState === EventSource.CLOSED) setTimeout(() => this.#reopen(source), REOPEN_MS);
    });
  }

  /** Closes it: nobody may read it now. */
  close() {
    this.#source?.close();
    this.#source = null;
    this.#become('closed');
  }

  /** @param {EventSource} refused */
  #reopen(refused) {
    if (this.#source !== refused) return;
    this.#source = null;
    this.open();
  }

  /** @param {MessageEvent} message */
  #deliver(message) {
    if (message.lastEventId !== '') this.#lastId = message.lastEventId;
    const event = JSON.parse(message.data);
    for (const reader of this.#readers) reader(event);
  }

  /** @param {FeedState} state */
  #become(state) {
    if (this.#state === state) return;
    this.#state = state;
    for (const watcher of this.#watchers) watcher(state);
  }
}
