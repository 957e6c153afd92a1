/** What the page knows of a call that goes on: its view, kept up by the events of the feed. */
import { isFailure, SLOW_MS } from './calls.js';

/**
 * @typedef {import('./calls.js').CallView} CallView
 * @typedef {{ kind: 'said' | 'prompt' | 'spoken' | 'key', track: string, text: string, final: boolean,
 *   utterance: number | string, recalled: boolean }} Line
 * @typedef {{ level: 'ok' | 'held' | 'slow' | 'failed' | 'ended', words: string }} CallStatus
 */

/** A hole in the captions is told for so long. */
const GAP_TOLD_MS = 30_000;

/** @param {string} iso @returns {number} */
const at = (iso) => Date.parse(iso);

export class LiveCall {
  /** @type {CallView} */
  view;
  /** What was last said on each side, by track; what we say is on the outbound one. @type {Map<string, Line>} */
  lines = new Map();
  /** The tracks on which somebody speaks now. @type {Set<string>} */
  speaking = new Set();
  /** How far the captions of a track are behind, while they are. @type {Map<string, number>} */
  lags = new Map();
  /** The last flow step, where its app tells one; empty = none. */
  step = '';
  /** `performance.now()` of when it was seen to end; null = it goes on. @type {number | null} */
  endedAtMs = null;
  /** How long it lasted at {@link #measuredAtMs}. */
  #durationMs;
  #measuredAtMs;
  #gapAtMs = -Infinity;
  /** When an event changed the view last. */
  #changedAtMs = -Infinity;
  /** An event told the lag, so that the lists' `lagMs`, which is that of one caption, counts no more. */
  #lagIsTold = false;

  /** @param {CallView} view @param {number} nowMs */
  constructor(view, nowMs) {
    this.view = view;
    this.knownSinceMs = nowMs;
    this.#durationMs = view.durationMs;
    this.#measuredAtMs = nowMs;
    if (view.state === 'ended') this.endedAtMs = nowMs;
  }

  /**
   * Takes what a list of calls says; returns whether anything changed. An event that came since the list was asked for
   * is newer.
   * @param {CallView} view @param {number} nowMs @param {number} askedAtMs
   */
  take(view, nowMs, askedAtMs) {
    if (this.#changedAtMs > askedAtMs || (this.view.state === 'ended' && view.state !== 'ended')) return false;
    const isChanged = JSON.stringify({ ...view, durationMs: 0 }) !== JSON.stringify({ ...this.view, durationMs: 0 });
    if (Math.abs(view.durationMs - this.durationMs(nowMs)) > 1500 || view.state === 'ended') {
      this.#durationMs = view.durationMs;
      this.#measuredAtMs = nowMs;
    }
    this.view = view;
    if (view.state === 'ended') this.endedAtMs ??= nowMs;
    return isChanged;
  }

  /** How long it lasts by now. @param {number} nowMs @returns {number} */
  durationMs(nowMs) {
    return this.view.state === 'live' ? this.#durationMs + nowMs - this.#measuredAtMs : this.#durationMs;
  }

  /**
   * Takes an event of the feed; returns whether that changes what is shown. @param {any} event @param {number} nowMs
   */
  apply(event, nowMs) {
    switch (event.type) {
      case 'caption':
        return this.#applyCaption(event);
      case 'revision':
        return this.#applyRevision(event);
      case 'spoken':
        return this.#say('outbound', { kind: 'spoken', text: event.heardText, utterance: event.utterance });
      case 'dtmf':
        return this.#say('inbound', { kind: 'key', text: event.digit, utterance: `key ${event.atMs}` });
      case 'speech.started':
        return !this.speaking.has(event.track) && Boolean(this.speaking.add(event.track));
      case 'speech.stopped':
        return this.speaking.delete(event.track);
      case 'lag.started':
        this.#lagIsTold = true;
        this.lags.set(event.track, event.lagMs);
        return true;
      case 'lag.ended':
        this.#lagIsTold = true;
        return this.lags.delete(event.track);
      case 'gap':
        this.#gapAtMs = nowMs;
        return true;
      default:
        return this.#applyState(event, nowMs);
    }
  }

  /** @param {any} event @param {number} nowMs */
  #applyState(event, nowMs) {
    switch (event.type) {
      case 'app.lost':
      case 'app.back':
        return this.#change({ appLost: event.type === 'app.lost' });
      case 'app.muted':
      case 'app.unmuted':
        return this.#change({ appMuted: event.type === 'app.muted' });
      case 'call.started':
        return this.view.state === 'dialing' && this.#begin(event, nowMs);
      case 'call.state':
        return this.#change({ phase: event.state });
      case 'call.assigned':
        return this.#change({ agent: event.agent, queue: event.queue, names: event.names });
      case 'call.updated':
        return this.#change({ outcome: event.outcome, tags: event.tags });
      case 'recording':
        return this.#change({ sound: event.state === 'on' ? 'recording' : event.state === 'paused' ? 'paused' : null });
      case 'flow.step':
        this.step = event.step;
        return true;
      case 'call.ended':
        return this.#end(event, nowMs);
      case 'call.resumed':
        return this.#goOn(event, nowMs);
      default:
        return false;
    }
  }

  /** It was answered. @param {any} event @param {number} nowMs */
  #begin({ startedAt, tracks, names, app }, nowMs) {
    this.#measuredAtMs = nowMs;
    return this.#change({ state: 'live', phase: 'live', startedAt, tracks, names, app });
  }

  /** Its server could not be reached, and is back. @param {any} event @param {number} nowMs */
  #goOn({ atMs }, nowMs) {
    this.endedAtMs = null;
    this.#durationMs = atMs;
    this.#measuredAtMs = nowMs;
    return this.#change({ state: 'live', phase: 'live', endReason: null, endedAt: null });
  }

  /** @param {any} event @param {number} nowMs */
  #end(event, nowMs) {
    this.speaking.clear();
    this.lags.clear();
    this.endedAtMs = nowMs;
    this.#durationMs = event.durationMs;
    this.#measuredAtMs = nowMs;
    return this.#change({
      state: 'ended',
      phase: null,
      endReason: event.reason,
      sip: event.sip ?? null,
      endedAt: new Date(at(this.view.startedAt) + event.durationMs).toISOString(),
      durationMs: event.durationMs,
    });
  }

  /** @param {Partial<CallView>} changes */
  #change(changes) {
    this.view = { ...this.view, ...changes };
    this.#changedAtMs = performance.now();
    return true;
  }

  /** @param {any} event */
  #applyCaption({ track, utterance, text, final, lagMs, background = false }) {
    // A card has room for who speaks alone.
    if (background) return false;
    if (this.lags.has(track)) this.lags.set(track, lagMs);
    if (!this.#lagIsTold) this.view.lagMs = lagMs;
    const shown = this.lines.get(track);
    const isOld =
      (shown?.kind === 'said' || shown?.kind === 'prompt') &&
      (shown.utterance > utterance || (shown.utterance === utterance && shown.final));
    if (isOld || text === '') return false;
    return this.#say(track, { kind: this.#kindOn(track), text, utterance, final });
  }

  /** What a caller hears while waiting is a prompt, whoever answers later. @param {string} track */
  #kindOn(track) {
    return track === 'outbound' && this.view.phase === 'queued' ? 'prompt' : 'said';
  }

  /** @param {any} event */
  #applyRevision({ track, utterance, text }) {
    const shown = this.lines.get(track);
    if (shown === undefined || shown.utterance !== utterance || text === '') return false;
    return this.#say(track, { kind: shown.kind, text, utterance });
  }

  /**
   * Takes what was said before the page came, unless something newer is known.
   * @param {{ kind: 'said' | 'spoken', track: string, text: string, utterance: number | string }} line
   */
  recall({ kind, track, text, utterance }) {
    const shown = this.lines.get(track);
    if (shown !== undefined && !shown.recalled) return;
    this.#say(track, { kind: kind === 'said' ? this.#kindOn(track) : kind, text, utterance, recalled: true });
  }

  /**
   * @param {string} track
   * @param {Omit<Line, 'track' | 'final' | 'recalled'> & { final?: boolean, recalled?: boolean }} line
   */
  #say(track, { kind, text, utterance, final = true, recalled = false }) {
    if (text === '') return false;
    this.lines.set(track, { kind, track, text, final, utterance, recalled });
    return true;
  }

  /** How far its captions are behind now, in ms; 0 = they are not. */
  get slowMs() {
    const told = Math.max(0, ...this.lags.values());
    if (told > 0 || this.#lagIsTold) return told;
    return (this.view.lagMs ?? 0) > SLOW_MS ? (this.view.lagMs ?? 0) : 0;
  }

  /**
   * How it does, and the reason in words that stand alone; empty = there is nothing to say.
   * @param {number} nowMs @returns {CallStatus}
   */
  status(nowMs) {
    const { state, phase, endReason } = this.view;
    if (state === 'ended') return { level: isFailure(endReason) ? 'failed' : 'ended', words: '' };
    if (this.view.appLost === true) return { level: 'failed', words: 'app lost' };
    if (this.slowMs > 0) return { level: 'slow', words: '' };
    if (nowMs - this.#gapAtMs < GAP_TOLD_MS) return { level: 'slow', words: 'captions missing' };
    if (phase === 'held') return { level: 'held', words: 'held' };
    if (phase === 'queued') return { level: 'held', words: 'in queue' };
    return { level: 'ok', words: state === 'dialing' || phase === 'ringing' ? 'ringing' : '' };
  }
}
