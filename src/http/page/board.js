/** The list of calls, and what is said on the chosen one. */
import { CallList } from './call-list.js';
import { describeCall, explainEnd, formatClock, nameCall, nameCarrier } from './calls.js';
import { Captions } from './captions.js';
import { part, setText } from './dom.js';
import { callPath, getJson } from './gateway.js';

/** @typedef {import('./calls.js').CallView} CallView */

const POLL_MS = 2000;
/** As many as one answer holds. */
const CALLS_SHOWN_MAX = 1000;
/** A browser does not try a refused feed again: the page does, after this. */
const REOPEN_MS = 3000;

export class Board {
  element = part('board');
  /** @type {CallView[]} */
  #calls = [];
  /** The id of the call whose captions are shown. @type {string | null} */
  #chosen = null;
  /** Open while the chosen call lives. @type {EventSource | null} */
  #feed = null;
  /** The chosen call is over: nothing more will come. */
  #over = false;
  #list = new CallList({ list: part('calls'), added: part('calls-added') }, (id) => this.#choose(id));
  #captions = new Captions({
    pane: part('pane'),
    finals: part('finals'),
    pending: part('pending'),
    earlier: part('earlier'),
    newest: part('newest'),
  });
  #isShown = false;
  #context;

  /** @param {import('./view.js').ViewContext} context */
  constructor(context) {
    this.#context = context;
    setText(part('webhook'), `${location.origin}/twilio/voice`);
    part('webhook-local').hidden = location.protocol === 'https:';
    setInterval(() => void this.#look(), POLL_MS);
  }

  /** @param {import('./view.js').Params} params */
  show({ id }) {
    this.#isShown = true;
    if (id !== undefined) this.#choose(id);
    void this.#look();
  }

  hide() {
    this.#isShown = false;
  }

  async #look() {
    if (document.hidden || !this.#isShown) return;
    try {
      const { data: calls } = await getJson(`/v1/calls?limit=${CALLS_SHOWN_MAX}`);
      this.#showCalls(calls);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** @param {unknown} error */
  #fail(error) {
    this.#context.fail(error);
  }

  // The calls

  /** @param {CallView[]} calls */
  #showCalls(calls) {
    this.#calls = calls;
    const live = calls
      .filter((call) => call.state === 'live')
      .toSorted((a, b) => b.startedAt.localeCompare(a.startedAt));
    if (this.#chosen === null && live[0] !== undefined) this.#choose(live[0].id);
    this.#list.show(calls, this.#chosen);
    part('no-calls').hidden = calls.length > 0;
    part('welcome').hidden = calls.length > 0 || this.#chosen !== null;
    this.#context.setTitle(live.length === 0 ? '' : `${live.length} live`);
    this.#follow();
  }

  /** @param {string} id */
  #choose(id) {
    if (id === this.#chosen) return;
    this.#closeFeed();
    this.#chosen = id;
    this.#over = false;
    this.#context.stay('calls', { id });
    this.#captions.clear();
    this.#list.show(this.#calls, id);
    for (const link of document.querySelectorAll('a[data-format]'))
      this.#pointToTranscript(/** @type {HTMLAnchorElement} */ (link), id);
    this.#follow();
  }

  /** @param {HTMLAnchorElement} link @param {string} id */
  #pointToTranscript(link, id) {
    const format = link.dataset['format'] ?? 'text';
    link.href = `${callPath(id)}/transcript?format=${format}`;
    link.download = `${id}.${format === 'text' ? 'txt' : format}`;
  }

  get #call() {
    return this.#calls.find(({ id }) => id === this.#chosen);
  }

  // The chosen call

  /** Brings the page in line with what the list says of the chosen call. */
  #follow() {
    const call = this.#call;
    if (call?.state === 'live' && this.#feed === null && !this.#over) this.#openFeed(call.id);
    if (call?.state === 'ended' && !this.#over) void this.#finish(call.id);
    if (call === undefined && this.#feed !== null) this.#closeFeed();
    this.#showHead();
  }

  /** The browser takes a broken feed up again by itself, with the id of the last event it saw. @param {string} id */
  #openFeed(id) {
    const feed = new EventSource(`/v1/captions?call=${encodeURIComponent(id)}`);
    this.#feed = feed;
    feed.addEventListener('open', () => {
      void this.#loadHistory(id);
    });
    feed.addEventListener('message', (message) => this.#receive(JSON.parse(message.data)));
    feed.addEventListener('error', () => {
      if (feed.readyState === EventSource.CLOSED) setTimeout(() => this.#reopen(feed), REOPEN_MS);
    });
  }

  #closeFeed() {
    this.#feed?.close();
    this.#feed = null;
  }

  /**
   * Why it was refused the browser does not tell, a look at the calls may (a key is wanted, the call is gone). @param
   * {EventSource} refused
   */
  async #reopen(refused) {
    if (this.#feed !== refused) return;
    this.#feed = null;
    await this.#look();
  }

  /** What was said before the feed opened; what both bring is shown once. @param {string} id */
  async #loadHistory(id) {
    try {
      const { data: items } = await getJson(`${callPath(id)}/transcript?format=json`);
      if (this.#chosen === id) this.#captions.addHistory(items);
    } catch (error) {
      this.#fail(error);
    }
    this.#showHead();
  }

  /** The call is over: its whole transcript is there. @param {string} id */
  async #finish(id) {
    this.#over = true;
    this.#closeFeed();
    this.#captions.stop();
    await this.#loadHistory(id);
    this.#showEnd(id);
  }

  /** Why the call ended, below what was said: in its transcript it is not. @param {string} id */
  #showEnd(id) {
    const call = this.#call;
    if (call === undefined || call.id !== id || call.state !== 'ended' || call.endReason === null) return;
    this.#captions.addEnd(`The call ended: ${explainEnd(call.endReason)}.`, call.durationMs);
    this.#showHead();
  }

  /** @param {any} event one event of the caption feed */
  #receive(event) {
    if (event.type === 'caption') this.#captions.add(event);
    if (event.type === 'revision') this.#captions.revise(event);
    if (event.type === 'spoken') this.#captions.addSpoken(event);
    if (event.type === 'gap') this.#captions.addGap(event);
    if (event.type === 'dtmf') this.#captions.addDigit(event.digit, event.atMs);
    if (event.type === 'call.ended') this.#noteEnd(event);
    const call = this.#call;
    const tellsLag = event.type === 'caption' || event.type === 'lag.started';
    if (call !== undefined && tellsLag) call.lagMs = event.lagMs;
    this.#list.show(this.#calls, this.#chosen);
    this.#showHead();
  }

  /** @param {{ callId: string, reason: string, durationMs: number }} event */
  #noteEnd(event) {
    this.#captions.addEnd(`The call ended: ${explainEnd(event.reason)}.`, event.durationMs);
    void this.#finish(event.callId);
    void this.#look();
  }

  #showHead() {
    const call = this.#call;
    const chosen = this.#chosen;
    part('call-links').hidden = call === undefined;
    part('quiet').hidden = chosen === null ? this.#calls.length === 0 : !this.#captions.empty;
    setText(part('quiet'), this.#explainQuiet(call));
    if (chosen === null) return;
    setText(part('call-heading'), call === undefined ? chosen : nameCall(call));
    part('call-heading').title = call === undefined ? chosen : nameCall(call);
    setText(
      part('call-facts'),
      call === undefined
        ? ''
        : `${describeCall(call)}, begun ${formatClock(call.startedAt)}, over ${nameCarrier(call.carrier)}`,
    );
  }

  /** @param {CallView | undefined} call @returns {string} */
  #explainQuiet(call) {
    if (this.#chosen === null) return 'Choose a call to read what was said.';
    if (call === undefined)
      return 'The server does not know this call, or no longer. Choose another, or wait for it to begin.';
    if (call.state === 'ended' || this.#over) return 'Nothing was said on this call.';
    return 'Nothing has been said yet. Captions appear here while people speak.';
  }
}
