/**
 * What happened in a call, in the order of its beginning: built of the feed's events, in whatever order and however
 * often they come. Without a document, so that it is tested.
 */
import { explainEnd, formatTime } from '../calls.js';
import { languageName } from '../languages.js';
import { FlowLines } from './flow-lines.js';

/**
 * `said`: a caption; `spoken`: what the server spoke; `note`: what somebody wrote; `event`: everything else.
 * @typedef {{ key: string, kind: 'said' | 'spoken' | 'gap' | 'note' | 'event', track: string, startMs: number,
 *   endMs: number, text: string, version: number, heardText: string, interrupted: boolean, lowConfidence: boolean,
 *   background: boolean, author: string, language: string }} Item
 * @typedef {{ track: string, utterance: number, stable: string, tail: string, startMs: number }} Partial
 * @typedef {'customer' | 'agent' | 'prompts' | 'steps'} Side
 */

/** Why a stretch has no caption, in words. */
const GAP_REASONS = new Map([
  ['engine', 'the speech engine failed'],
  ['overload', 'the machine had too much to do'],
  ['shutdown', 'the server was stopped'],
  ['media', 'the sound was lost on the way'],
  ['limit', 'the captions are too many to be kept'],
]);

const PHASES = new Map([
  ['ringing', 'Ringing'],
  ['queued', 'Waits in the queue'],
  ['live', 'Connected'],
  ['held', 'On hold'],
]);

const RECORDINGS = new Map([
  ['on', 'The sound is recorded from here on'],
  ['paused', 'The recording is paused'],
  ['off', 'The recording is over'],
]);

/** Stands where captions have their track. */
const FLOW_TRACK = 'flow';

export class CallLog {
  /** By startMs. @type {Item[]} */
  #items = [];
  /** @type {Map<string, Item>} */
  #byKey = new Map();
  /** What is being said on each track. @type {Map<string, Partial>} */
  partials = new Map();
  /** The last utterance of each track that became final. @type {Map<string, number>} */
  #settled = new Map();
  /** From when on the call was in which phase. @type {{ atMs: number, state: string }[]} */
  #phases = [];
  /** @type {Map<string, any>} */
  hints = new Map();
  #flow = new FlowLines();
  #startedAtMs;

  /** @param {string} startedAt ISO 8601, for what tells only the time of day */
  constructor(startedAt) {
    this.#startedAtMs = Date.parse(startedAt);
  }

  /** When the call began, where it is known only now. @param {string} startedAt */
  setStart(startedAt) {
    if (startedAt !== '') this.#startedAtMs = Date.parse(startedAt);
  }

  /** @returns {readonly Item[]} in the order of their beginning */
  get items() {
    return this.#items;
  }

  /** @param {string} key @returns {Item | undefined} */
  get(key) {
    return this.#byKey.get(key);
  }

  /** Whose words an item has. @param {Item} item @returns {Side | null} null = nobody's */
  sideOf({ kind, track, startMs }) {
    if (kind === 'spoken') return 'prompts';
    if (kind === 'event' && track === FLOW_TRACK) return 'steps';
    if (kind !== 'said') return null;
    if (track === 'inbound') return 'customer';
    return this.#phaseAt(startMs) === 'queued' ? 'prompts' : 'agent';
  }

  /** @param {number} ms */
  #phaseAt(ms) {
    return this.#phases.findLast(({ atMs }) => atMs <= ms)?.state ?? 'live';
  }

  /**
   * Takes an event of the feed, or an item of a transcript. Returns the keys of the items that it added, changed or
   * took out.
   * @param {any} event @returns {string[]}
   */
  apply(event) {
    switch (event.type ?? event.kind) {
      case 'caption':
        return this.#applyCaption(event);
      case 'revision':
        return this.#putSaid(event);
      case 'spoken':
        return this.#applySpoken(event);
      case 'gap':
        return this.#applyGap(event);
      case 'note':
        return this.#put(`note ${event.note}`, 'note', this.#msOf(event.at), {
          text: event.text,
          author: event.author,
        });
      case 'hint':
        this.hints.set(event.hint, event);
        return [];
      case 'flow.started':
      case 'flow.step':
      case 'flow.input':
      case 'flow.ended':
        return this.#applyFlow(event);
      case 'call.state':
        return this.#applyPhase(event);
      case 'call.ended':
        return this.addEnd(event.reason, event.durationMs);
      default:
        return this.#applyMoment(event);
    }
  }

  /** What happened at one moment and is said in a few words. @param {any} event @returns {string[]} */
  #applyMoment(event) {
    const words = describeMoment(event);
    if (words === '') return [];
    const { atMs = event.startMs } = event;
    return this.#put(`${event.type ?? event.kind} ${event.digit ?? event.label ?? ''} ${atMs}`, 'event', atMs, {
      text: words,
    });
  }

  /** @param {string} reason @param {number} durationMs @returns {string[]} */
  addEnd(reason, durationMs) {
    const partial = [...this.partials.keys()].map((track) => `partial ${track}`);
    this.partials.clear();
    return [...partial, ...this.#put('end', 'event', durationMs, { text: `The call ended: ${explainEnd(reason)}.` })];
  }

  /** @param {any} event */
  #applyCaption(event) {
    if (event.final === false) return this.#applyPartial(event);
    const { track, utterance } = event;
    const keys = (this.partials.get(track)?.utterance ?? Infinity) <= utterance ? [`partial ${track}`] : [];
    if (keys.length > 0) this.partials.delete(track);
    this.#settled.set(track, Math.max(utterance, this.#settled.get(track) ?? 0));
    return [...keys, ...this.#putSaid(event)];
  }

  /** @param {any} event */
  #applyPartial({ track, utterance, stable, tail, startMs }) {
    if (utterance <= (this.#settled.get(track) ?? 0)) return [];
    this.partials.set(track, { track, utterance, stable, tail, startMs });
    return [`partial ${track}`];
  }

  /** A final caption or a revision of one; one without words goes. @param {any} event */
  #putSaid({ track, utterance, text, startMs, endMs, version = 1, language, ...marks }) {
    const key = `${track} ${utterance}`;
    const shown = this.#byKey.get(key);
    if (shown !== undefined && version <= shown.version) return [];
    const spoken = language ?? shown?.language ?? '';
    const { lowConfidence = false, background = false } = marks;
    const more = { track, text, endMs, version, lowConfidence, background, language: spoken };
    if (text.trim() !== '') return this.#put(key, 'said', startMs, more);
    return shown === undefined ? [] : this.#remove(shown);
  }

  /** @param {any} event */
  #applySpoken({ utterance, text, heardText, interrupted, atMs = 0, startMs = atMs, endMs = atMs }) {
    const heard = interrupted === true ? heardText : text;
    const more = { track: 'spoken', text, heardText: heard, interrupted: interrupted === true, endMs };
    return this.#put(`spoken ${utterance}`, 'spoken', startMs, more);
  }

  /** @param {any} event */
  #applyGap({ track, startMs, endMs, reason }) {
    if (reason === 'held')
      return this.#put(`held ${startMs}`, 'event', startMs, { endMs, text: PHASES.get('held') ?? '' });
    const why = GAP_REASONS.get(reason) ?? 'something went wrong';
    return this.#put(`gap ${track} ${startMs}`, 'gap', startMs, {
      track,
      endMs,
      text: `not captioned until ${formatTime(endMs)}, ${why}`,
    });
  }

  /** Lines fold into others when more is known. @param {any} event */
  #applyFlow(event) {
    if (!this.#flow.add(event)) return [];
    const lines = this.#flow.read();
    const wanted = new Set(lines.map(({ key }) => key));
    const gone = this.#items.filter(({ key, track }) => track === FLOW_TRACK && !wanted.has(key));
    return [
      ...gone.flatMap((item) => this.#remove(item)),
      ...lines.flatMap(({ key, atMs, text }) => this.#put(key, 'event', atMs, { text, track: FLOW_TRACK })),
    ];
  }

  /** Captions of a queue are prompts, which is only known now for those that came before. @param {any} event */
  #applyPhase({ state, atMs }) {
    const isKnown = this.#phases.some((phase) => phase.atMs === atMs && phase.state === state);
    if (isKnown) return [];
    this.#phases.push({ atMs, state });
    this.#phases.sort((a, b) => a.atMs - b.atMs);
    const outbound = this.#items.filter(({ kind, track }) => kind === 'said' && track === 'outbound');
    const words = PHASES.get(state) ?? state;
    return [...outbound.map(({ key }) => key), ...this.#put(`phase ${state} ${atMs}`, 'event', atMs, { text: words })];
  }

  /** @param {string} key @param {Item['kind']} kind @param {number} startMs @param {Some<Item>} more */
  #put(key, kind, startMs, more) {
    const known = this.#byKey.get(key);
    const item = { ...BLANK, key, kind, startMs, endMs: startMs, ...more };
    if (known !== undefined && JSON.stringify(known) === JSON.stringify(item)) return [];
    if (known !== undefined) this.#items.splice(this.#items.indexOf(known), 1);
    this.#byKey.set(key, item);
    let at = this.#items.length;
    while (at > 0 && (this.#items[at - 1]?.startMs ?? 0) > startMs) at -= 1;
    this.#items.splice(at, 0, item);
    return [key];
  }

  /** @param {Item} item */
  #remove(item) {
    this.#items.splice(this.#items.indexOf(item), 1);
    this.#byKey.delete(item.key);
    return [item.key];
  }

  /** @param {string} iso */
  #msOf(iso) {
    const ms = Date.parse(iso) - this.#startedAtMs;
    return Number.isFinite(ms) ? Math.max(0, ms) : 0;
  }
}

/**
 * @template T
 * @typedef {{ [K in keyof T]?: T[K] }} Some
 */

const BLANK = Object.freeze({
  track: '',
  text: '',
  version: 1,
  heardText: '',
  interrupted: false,
  lowConfidence: false,
  background: false,
  author: '',
  language: '',
});

/** @type {Readonly<Record<string, string>>} */
const ANSWERERS = Object.freeze({
  person: 'A person has answered',
  machine: 'A machine has answered',
  fax: 'A fax machine has answered',
  unknown: 'Whoever has answered says nothing',
});

/** @param {any} event */
function describeLanguage({ track, language, refused }) {
  const who = track === 'inbound' ? 'the caller' : 'the other side';
  if (refused !== undefined) return `The language of ${who}, ${languageName(refused)}, is not understood here`;
  if (language === null) return `The language of ${who} is found out`;
  return `The language of ${who} is ${languageName(language)}`;
}

/** @param {any} event */
function describeTransfer({ from = null, to, kind }) {
  const how = kind === 'attended' || kind === 'warm' ? 'Transferred, introduced' : 'Transferred';
  return `${how}${from === null ? '' : ` by ${from}`}${to === null ? '' : ` to ${to}`}`;
}

/** @param {any} event @returns {string} empty = it is not told */
function describeMoment(event) {
  switch (event.type ?? event.kind) {
    case 'dtmf':
      return event.digits === undefined ? `Key ${event.digit} pressed` : `Keys ${event.digits} pressed`;
    case 'language':
      return describeLanguage(event);
    case 'mark':
      return `⚑ ${event.label} (${event.author})`;
    case 'call.transferred':
      return describeTransfer(event);
    case 'call.assigned':
      return event.names.outbound === null ? '' : `With ${event.names.outbound}`;
    case 'call.resumed':
      return 'The call goes on: its server is reached again';
    case 'answered':
      return ANSWERERS[event.by] ?? '';
    case 'beep':
      return event.heard ? 'The machine has beeped' : 'The machine has fallen silent';
    case 'fax':
      return 'A fax machine is on the line';
    case 'app.lost':
      return 'The app is lost; its connection is being opened again';
    case 'app.back':
      return 'The app is back';
    case 'app.muted':
      return `Taken over from the app by ${event.by}`;
    case 'app.unmuted':
      return `Given back to the app by ${event.by}`;
    case 'recording':
      return RECORDINGS.get(event.state) ?? '';
    default:
      return '';
  }
}
