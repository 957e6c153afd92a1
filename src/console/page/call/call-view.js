/** One call, live or stored: what was said, and beside it what helps whoever works with it. */
import { formatTime, nameSpeaker, nameSpoken } from '../calls.js';
import { copyText } from '../clipboard.js';
import { make, setText } from '../dom.js';
import { callPath, postJson } from '../gateway.js';
import { LiveCall } from '../live-call.js';
import { addressOf } from '../router.js';
import { CallHead } from './call-head.js';
import { CallLog } from './call-log.js';
import { loadCall, loadEvents } from './call-source.js';
import { FindBar } from './find-bar.js';
import { SayBar } from './say-bar.js';
import { SoundBar } from './sound-bar.js';
import { Transcript } from './transcript.js';
import { WorkColumn } from './work-column.js';

/** @typedef {import('../calls.js').CallView} CallData */

const TICK_MS = 1000;

export class OneCallView {
  #context;
  #head;
  #transcript = new Transcript((ms) => this.#openMoment(ms));
  #find = new FindBar(this.#transcript);
  #say;
  #sound = new SoundBar((ms) => this.#followSound(ms));
  #work;
  #paneButton = make('button', { type: 'button', class: 'pane-button', 'aria-pressed': 'false' }, 'Notes & hints');
  element;
  /** The call that is shown; empty = none. */
  #id = '';
  /** What the server said of it, where the store does not know it. @type {LiveCall | undefined} */
  #stored;
  #isKnown = true;
  #log = new CallLog('');
  /** @type {Set<string>} */
  #changed = new Set();
  #frame = 0;
  #timer = 0;
  #loading = new AbortController();
  #isLoaded = false;
  /** A moment that the address names, until it is shown. @type {number | null} */
  #wantedMs = null;

  /** @param {import('../view.js').ViewContext} context */
  constructor(context) {
    this.#context = context;
    this.#say = new SayBar(context);
    this.#work = new WorkColumn(context, (text) => this.#say.offer(text));
    this.#head = new CallHead(this.#deeds(), context.session, this.#paneButton);
    this.#paneButton.addEventListener('click', () => this.#showPane(this.element.dataset['pane'] !== 'work'));
    this.element = make(
      'section',
      { class: 'call', 'data-pane': 'words', 'aria-labelledby': 'call-heading' },
      this.#head.element,
      make(
        'div',
        { class: 'call-words' },
        make('div', { class: 'call-tools' }, this.#find.element),
        this.#transcript.element,
        this.#sound.element,
        this.#say.element,
      ),
      this.#work.element,
    );
    context.feed.onEvent((event) => this.#receive(event));
    context.feed.onState((state) => {
      if (state === 'open' && this.#isLoaded) void this.#load(this.#id);
    });
    context.store.onChange((changed) => {
      if (this.#timer !== 0 && changed.has(this.#id)) this.#showCall();
    });
  }

  /** @param {import('../view.js').Params} params */
  show({ id = '', at }) {
    if (this.#timer === 0) this.#timer = setInterval(() => this.#showCall(), TICK_MS);
    this.#context.setShortcuts(this.#shortcuts());
    this.#wantedMs = at === undefined || !Number.isFinite(Number(at)) ? null : Number(at);
    this.#head.setOrigin(this.#context.origin());
    if (id !== this.#id) this.#begin(id);
    this.#showCall();
    if (this.#isLoaded) this.#showWantedMoment();
  }

  hide() {
    clearInterval(this.#timer);
    this.#timer = 0;
    this.#sound.stop();
    this.#loading.abort();
    this.#id = '';
    this.#isLoaded = false;
  }

  /** @returns {import('../view.js').Shortcut[]} */
  #shortcuts() {
    return [
      { keys: 'Escape', words: 'Back to the list', run: () => this.#goBack() },
      { keys: '/', words: 'Find words in the call', run: () => this.#find.focus() },
      { keys: 's', words: 'Say something to the caller', run: () => this.#say.focus() },
      { keys: 'n', words: 'Write a note', run: () => this.#focusWork(() => this.#work.focusNote()) },
      { keys: 'o', words: 'Note the outcome', run: () => this.#focusWork(() => this.#work.focusOutcome()) },
      { keys: 'm', words: 'Mark this moment', run: () => void this.#mark() },
      { keys: 'c', words: 'Copy what was said', run: () => void this.#copy() },
      { keys: 'l', words: 'Copy a link to this moment', run: () => void this.#copyLink() },
      { keys: 'p', words: 'Play or stop the sound', run: () => this.#sound.toggle() },
    ];
  }

  #goBack() {
    const { view, params } = this.#context.origin();
    this.#context.go(view, params);
  }

  // The call

  /** @returns {LiveCall | undefined} */
  get #known() {
    return this.#context.store.get(this.#id) ?? this.#stored;
  }

  /** @returns {CallData | undefined} */
  get #call() {
    return this.#known?.view;
  }

  /** @param {string} id */
  #begin(id) {
    this.#id = id;
    this.#stored = undefined;
    this.#isKnown = true;
    this.#isLoaded = false;
    this.#changed.clear();
    this.#restart();
    this.#head.setId(id);
    this.#work.clear(id);
    void this.#load(id);
  }

  #restart() {
    this.#log = new CallLog(this.#call?.startedAt ?? '');
    this.#transcript.clear(this.#log);
    this.#find.clear(this.#log);
  }

  /** Fetches what is kept of the call; what the feed brings meanwhile is taken as well. @param {string} id */
  async #load(id) {
    this.#loading.abort();
    this.#loading = new AbortController();
    const { signal } = this.#loading;
    try {
      const view = await loadCall(id);
      if (signal.aborted) return;
      this.#isKnown = view !== undefined;
      this.#stored = view === undefined ? undefined : new LiveCall(view, performance.now());
      this.#log.setStart(view?.startedAt ?? '');
      if (view !== undefined) await this.#loadLog(id, signal);
    } catch (error) {
      if (!signal.aborted) this.#context.fail(error);
    }
    if (signal.aborted) return;
    this.#isLoaded = true;
    this.#showEnd();
    this.#showCall();
    this.#showWantedMoment();
  }

  /** @param {string} id @param {AbortSignal} signal */
  async #loadLog(id, signal) {
    const isFirst = this.#transcript.isEmpty;
    /** @type {string[]} */
    const keys = [];
    for await (const events of loadEvents(id, signal)) {
      for (const event of events) keys.push(...this.#log.apply(event));
      if (isFirst) this.#transcript.showAll();
    }
    if (!isFirst) this.#transcript.update(keys, false);
    // What is over is read from its beginning.
    if (isFirst && this.#call?.state === 'ended') this.#transcript.goToStart();
    this.#work.update(this.#log, keys);
    this.#find.refresh();
  }

  /** Why it ended a transcript does not say. */
  #showEnd() {
    const call = this.#call;
    if (call?.state !== 'ended' || call.endReason === null) return;
    this.#transcript.update(this.#log.addEnd(call.endReason, call.durationMs), false);
  }

  /** @param {any} event one event of the feed */
  #receive(event) {
    if (event.callId !== this.#id || this.#timer === 0) return;
    if (event.type === 'call.started' && !this.#isKnown) void this.#load(this.#id);
    if (event.type === 'call.updated') void this.#refresh();
    if (event.type === 'call.ended') void this.#load(this.#id);
    if (event.type === 'call.deleted') this.#context.toast('This call was deleted.', 'problem');
    for (const key of this.#log.apply(event)) this.#changed.add(key);
    if (event.type === 'hint') this.#changed.add('hint');
    if (this.#changed.size > 0 && this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#showChanged());
  }

  #showChanged() {
    this.#frame = 0;
    const keys = [...this.#changed];
    this.#changed.clear();
    const items = keys.filter((key) => key !== 'hint');
    this.#transcript.update(items, true);
    const settled = keys.filter((key) => !key.startsWith('partial '));
    if (settled.length === 0) return;
    this.#work.update(this.#log, settled);
    this.#find.refresh();
    this.#showCall();
  }

  /** Asks for the call's view again: its record knows more than the feed tells. */
  async #refresh() {
    const id = this.#id;
    const askedAtMs = performance.now();
    const view = await loadCall(id).catch(() => undefined);
    if (view === undefined || id !== this.#id) return;
    this.#stored = new LiveCall(view, performance.now());
    this.#context.store.get(id)?.take(view, performance.now(), askedAtMs);
    this.#showCall();
  }

  #showCall() {
    const known = this.#known;
    const call = known?.view;
    const nowMs = performance.now();
    const status = known?.status(nowMs) ?? { level: /** @type {const} */ ('ended'), words: '' };
    const times = { durationMs: known?.durationMs(nowMs) ?? 0, slowMs: known?.slowMs ?? 0 };
    this.#head.show(this.#id, call, status, times);
    this.#transcript.setCall(call ?? undefined);
    this.#transcript.explain(this.#transcript.isEmpty ? this.#explainQuiet(call) : '');
    this.#say.show(this.#id, call?.state === 'live');
    this.#sound.show(this.#id, call?.sound === 'recorded' && this.#context.session.may('calls.listen'));
    this.#work.setCall(call);
    const { hints } = this.#work;
    setText(this.#paneButton, hints === 0 ? 'Notes & hints' : `Notes & hints (${hints})`);
    const [inbound, outbound] = [nameSpeaker(call, 'inbound'), nameSpeaker(call, 'outbound')];
    this.#context.setTitle(call === undefined ? 'Call' : `${inbound} and ${outbound}`);
  }

  /** @param {CallData | undefined} call @returns {string} */
  #explainQuiet(call) {
    if (!this.#isLoaded) return 'Loading…';
    if (call === undefined) return 'The server does not know this call, or no longer. It is shown here when it begins.';
    if (call.state === 'ended') return 'Nothing was said on this call.';
    return 'Nothing has been said yet. Captions appear here while people speak.';
  }

  // Moments

  /** @param {number} ms */
  #openMoment(ms) {
    this.#context.stay('calls', { id: this.#id, at: String(Math.round(ms)) });
    this.#wantedMs = ms;
    this.#showWantedMoment();
  }

  #showWantedMoment() {
    if (this.#wantedMs === null) return;
    const ms = this.#wantedMs;
    this.#wantedMs = null;
    const item = this.#itemAt(ms);
    if (item !== undefined) this.#transcript.mark(item.key);
    if (this.#sound.isShown) this.#sound.seek(ms);
  }

  /** The item that goes on at `ms`, or that was before. @param {number} ms */
  #itemAt(ms) {
    return this.#log.items.findLast(({ startMs }) => startMs <= ms + 1) ?? this.#log.items[0];
  }

  /** @param {number} ms */
  #followSound(ms) {
    const item = this.#itemAt(ms);
    if (item !== undefined) this.#transcript.follow(item.key);
  }

  // What is done

  /** @returns {import('./call-head.js').HeadDeeds} */
  #deeds() {
    return {
      copy: () => void this.#copy(),
      mark: () => void this.#mark(),
      hangUp: () => void this.#do('hangup', {}, 'The call ends when all that waits has been said.'),
      takeOver: (muted) =>
        void this.#do('app', { muted }, muted ? 'You have taken over: the app is silent.' : 'The app talks again.'),
      record: (state) =>
        void this.#do(
          'recording',
          { state },
          state === 'paused' ? 'The recording is paused.' : 'The recording goes on.',
        ),
    };
  }

  /** @param {string} deed @param {object} body @param {string} done */
  async #do(deed, body, done) {
    try {
      await postJson(`${callPath(this.#id)}/${deed}`, deed === 'hangup' ? undefined : body);
      this.#context.toast(done);
    } catch (error) {
      this.#context.fail(error);
    }
  }

  #mark() {
    if (this.#call?.state !== 'live') return Promise.resolve();
    return this.#do('marks', { label: 'look here' }, 'The moment is marked.');
  }

  /** What is shown, as text. */
  async #copy() {
    const hidden = this.#find.hiddenSides;
    const lines = this.#log.items
      .filter((item) => !hidden.includes(this.#log.sideOf(item) ?? ''))
      .map((item) => {
        const who = item.kind === 'said' ? nameSpeaker(this.#call, item.track) : item.author;
        const name = item.kind === 'spoken' ? nameSpoken(this.#call) : who;
        return `[${formatTime(item.startMs)}] ${name === '' ? '' : `${name}: `}${item.heardText || item.text}`;
      });
    this.#tellCopied(await copyText(lines.join('\n')), 'What was said is copied.');
  }

  async #copyLink() {
    const item = this.#transcript.marked ?? this.#log.items.at(-1)?.startMs ?? 0;
    const address = addressOf('calls', { id: this.#id, at: String(Math.round(item)) });
    this.#tellCopied(await copyText(`${location.origin}/${address}`), 'The link is copied.');
  }

  /** @param {boolean} isCopied @param {string} words */
  #tellCopied(isCopied, words) {
    if (isCopied) this.#context.toast(words);
    else this.#context.toast('The browser does not let this page copy.', 'problem');
  }

  /** On narrow screens what was said and the rest take turns. @param {boolean} isWork */
  #showPane(isWork) {
    this.element.dataset['pane'] = isWork ? 'work' : 'words';
    this.#paneButton.setAttribute('aria-pressed', String(isWork));
  }

  /** @param {() => void} focus */
  #focusWork(focus) {
    this.#showPane(true);
    focus();
  }
}
