/**
 * The server's side of one AudioHook session, version 2 (https://developer.genesys.cloud/devapps/audiohook): Genesys
 * Cloud sends both sides of a conversation and gets transcripts. Pure: messages in, what happened and what is to be
 * answered out. Nothing can be said to the caller.
 */
import { TrunklineError } from '../../../foundation/errors.ts';
import { bytesToMs, bytesToSamples, type Codec } from '../../../foundation/units.ts';
import type { CarrierEvent, Track, TranscribedCaption, WireMessage } from '../../../protocols/dialect.ts';
import {
  countAt,
  identifierAt,
  isObject,
  type Json,
  malformed,
  objectAt,
  parseMessage,
  textAt,
} from '../../../protocols/json.ts';
import { readDuration } from './durations.ts';
import { toLocale } from './locale.ts';
import { type AudioHookMedia, readOpen } from './open.ts';
import { transcriptOf } from './transcript.ts';

const VERSION = '2';
/** Audio that was left out at once is at most a day. */
const DISCARDED_MAX_MS = 86_400_000;
/** Longer ones are no language. */
const LANGUAGE_MAX_CHARS = 40;
/** Holds, and changes of the language, that are told of one session: each is an event that others are sent. */
const CHANGES_MAX = 1000;

/** What one message brings. */
export interface AudioHookStep {
  readonly events: readonly CarrierEvent[];
  /** To be sent at once, in this order. */
  readonly replies: readonly string[];
}

interface AudioHookSessionOptions {
  /** Tells this stream from others of the same session. */
  readonly streamId: string;
  /** As the handshake names it; null = it did not. */
  readonly organizationId: string | null;
  /** What is understood, in BCP-47. */
  readonly languages: () => readonly string[];
}

const NOTHING: AudioHookStep = { events: [], replies: [] };

/** One session. */
export class AudioHookSession {
  readonly #options: AudioHookSessionOptions;
  #id: string | null = null;
  #sent = 0;
  #clientSequence = 0;
  #media: AudioHookMedia | null = null;
  /** Organization and conversation, as `open` names them. */
  #conversation = '';
  #language: string | null = null;
  #continues: readonly string[] = [];
  /** A session that only tries whether somebody answers. */
  #isProbe = false;
  #positionMs = 0;
  /** Time of the call when this session began. */
  #baseMs = 0;
  #frames = 0;
  #isHeld = false;
  #isClosing = false;
  #isReconnecting = false;
  #changes = 0;

  constructor(options: AudioHookSessionOptions) {
    this.#options = options;
  }

  /** As the client names it; null = it is not open. */
  get id(): string | null {
    return this.#id;
  }

  /** Ids of the sessions that it goes on with: the connection to the latest of them broke, or was given up. */
  get continues(): readonly string[] {
    return this.#continues;
  }

  /** Whether the client closes it to go on in another one. */
  get isReconnecting(): boolean {
    return this.#isReconnecting;
  }

  /** Whether the client sends no sound on purpose. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Whether the client has opened it, be it for a call or as a probe. */
  get isOpen(): boolean {
    return this.#id !== null;
  }

  /** Whether the client opened it to see whether somebody answers: it is no call. */
  get isProbe(): boolean {
    return this.#isProbe;
  }

  /** Whether the client has said that it is over: it waits for {@link closed}. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /**
   * One message of the client. Of two channels the samples take turns.
   * @throws TrunklineError `message_malformed`, `start_repeated`, `codec_unsupported`, `credentials_invalid`
   */
  receive(message: WireMessage): AudioHookStep {
    if (typeof message !== 'string') return this.#receiveAudio(message);
    const json = parseMessage(message);
    const { type } = json;
    if (typeof type !== 'string') throw malformed('type', type, 'a string');
    if (json['version'] !== VERSION) throw malformed('version', json['version'], '"2"');
    this.#clientSequence = countAt(json, 'seq', 'seq');
    if (type === 'open') return this.#open(json);
    if (this.#id === null) return this.#beforeOpen(type, json);
    if (json['id'] !== this.#id) throw malformed('id', json['id'], 'the id that the session was opened with');
    return this.#go(type, json);
  }

  /**
   * From now on it is the same stream as `former`, whose sound was missed for `missedMs` up to now. Returns what has
   * changed since; null = it is another conversation, or has other sound, and nothing is changed.
   */
  continueFrom(former: AudioHookSession, missedMs: number): readonly CarrierEvent[] | null {
    const [media, formerMedia] = [this.#media, former.#media];
    const isSame = media !== null && formerMedia !== null && isSameSound(media, formerMedia);
    if (!isSame || this.#conversation !== former.#conversation || this.#isProbe || former.#isProbe) return null;
    this.#baseMs = former.#baseMs + former.#positionMs + missedMs;
    this.#frames = former.#frames;
    const language = this.#language;
    if (language === null) this.#language = former.#language;
    return [
      ...(former.#isHeld ? [{ type: 'state', state: 'live' } as const] : []),
      ...(language === null || language === former.#language ? [] : [{ type: 'language', language } as const]),
    ];
  }

  /**
   * What somebody said, as the client gets it; null = it gets nothing of it. Times are of the call. What was said in an
   * earlier session is told as said when this one began.
   */
  transcript(caption: TranscribedCaption): string | null {
    const channel = this.#media?.tracks.indexOf(caption.track) ?? -1;
    if (channel < 0 || this.#id === null) return null;
    const [startMs, endMs] = [caption.startMs, caption.endMs].map((atMs) => Math.max(atMs - this.#baseMs, 0));
    const { track, text, confidence, language } = caption;
    const told = { track, text, confidence, language, startMs: startMs ?? 0, endMs: endMs ?? 0 };
    return this.#write('event', { entities: [transcriptOf(told, channel)] });
  }

  /** Asks the client to end the session; it answers with `close`. */
  disconnect(reason: 'completed' | 'error' | 'unauthorized', info?: string): string {
    return this.#write('disconnect', info === undefined ? { reason } : { reason, info });
  }

  /** The last message of a session that the client has closed. */
  closed(): string {
    return this.#write('closed', {});
  }

  /** Before `open` the client may ask whether somebody is there. */
  #beforeOpen(type: string, json: Json): AudioHookStep {
    if (type !== 'ping' && type !== 'error') throw malformed('type', type, '"open" first');
    return type === 'ping' ? { events: [], replies: [this.#write('pong', {}, identifierAt(json, 'id'))] } : NOTHING;
  }

  #open(json: Json): AudioHookStep {
    if (this.#id !== null) throw new TrunklineError('start_repeated', 'got a second open, expected one per session');
    const { streamId, organizationId, languages } = this.#options;
    const { start, media, asksLanguages, continues } = readOpen(json, streamId);
    const { organizationId: said, conversationId } = objectAt(json, 'parameters');
    if (organizationId !== null && said !== organizationId) {
      throw new TrunklineError(
        'credentials_invalid',
        'organizationId of open is not the one of the handshake (Audiohook-Organization-Id)',
      );
    }
    this.#id = String(json['id']);
    this.#media = media;
    this.#isProbe = start === null;
    this.#conversation = JSON.stringify([said, conversationId]);
    this.#language = start?.parameters['language'] ?? null;
    this.#continues = continues;
    const supported = asksLanguages ? { supportedLanguages: languages().map(toLocale) } : {};
    const opened = { startPaused: false, media: media === null ? [] : [media.offer], ...supported };
    return { events: start === null ? [] : [{ type: 'start', start }], replies: [this.#write('opened', opened)] };
  }

  #go(type: string, json: Json): AudioHookStep {
    switch (type) {
      case 'ping':
        return { events: [], replies: [this.#write('pong', {})] };
      case 'update':
        return { events: [this.#update(json)], replies: [this.#write('updated', {})] };
      case 'paused':
      case 'resumed':
        return { events: [this.#hold(type === 'paused')], replies: [] };
      case 'discarded':
        this.#skip(json);
        return { events: [this.#ignored('discarded')], replies: [] };
      case 'close':
        this.#isClosing = true;
        this.#isReconnecting = isObject(json['parameters']) && json['parameters']['reason'] === 'reconnect';
        return { events: this.#isReconnecting ? [this.#ignored('reconnect')] : [{ type: 'stop' }], replies: [] };
      default:
        return { events: [this.#ignored(type === 'error' ? 'error' : 'unknown_event')], replies: [] };
    }
  }

  #update(json: Json): CarrierEvent {
    const language = readLanguage(json);
    this.#language = language;
    return this.#change({ type: 'language', language });
  }

  /** Whoever is held is taken back, however often that was told. */
  #hold(isHeld: boolean): CarrierEvent {
    if (isHeld === this.#isHeld) return this.#ignored('repeated');
    const event = this.#change({ type: 'state', state: 'held' });
    if (isHeld && event.type === 'ignored') return event;
    this.#isHeld = isHeld;
    return { type: 'state', state: isHeld ? 'held' : 'live' };
  }

  #change(event: CarrierEvent): CarrierEvent {
    this.#changes++;
    return this.#changes > CHANGES_MAX ? this.#ignored('repeated') : event;
  }

  /**
   * What was not sent counts in the client's positions all the same. A start beyond what came is taken as where we are:
   * Genesys' compliance suite names the wall clock's, and its audio begins later.
   */
  #skip(json: Json): void {
    const parameters = objectAt(json, 'parameters');
    const [startMs, discardedMs] = [readDuration(parameters['start']), readDuration(parameters['discarded'])];
    if (startMs === null || discardedMs === null)
      throw malformed('parameters', parameters, 'start and discarded as durations such as PT1.5S');
    const toMs = Math.min(startMs, this.#positionMs) + discardedMs;
    if (toMs > this.#positionMs && toMs - this.#positionMs <= DISCARDED_MAX_MS) this.#positionMs = toMs;
  }

  #receiveAudio(bytes: Uint8Array): AudioHookStep {
    const media = this.#media;
    if (media === null || this.#isProbe || this.#isClosing) return { events: [this.#ignored('audio')], replies: [] };
    const { codec, tracks } = media;
    if (bytes.length % tracks.length !== 0) {
      throw new TrunklineError(
        'message_malformed',
        `got ${bytes.length} bytes of audio, expected as many for each of ${tracks.length} channels`,
      );
    }
    const atMs = this.#baseMs + this.#positionMs;
    const sequence = ++this.#frames;
    this.#positionMs += bytesToMs(bytes.length / tracks.length, codec);
    const events = tracks.map((track, channel): CarrierEvent => {
      return { type: 'audio', track, bytes: channelOf(bytes, channel, tracks, codec), atMs, sequence };
    });
    return { events, replies: [] };
  }

  #ignored(what: string): CarrierEvent {
    return { type: 'ignored', what };
  }

  #write(type: string, parameters: object, id: unknown = this.#id): string {
    const sequences = { seq: ++this.#sent, clientseq: this.#clientSequence };
    return JSON.stringify({ version: VERSION, type, ...sequences, id, parameters });
  }
}

function isSameSound(a: AudioHookMedia, b: AudioHookMedia): boolean {
  return a.codec === b.codec && a.tracks.join() === b.tracks.join();
}

function readLanguage(json: Json): string {
  const language = textAt(objectAt(json, 'parameters'), 'language');
  if (language === null || language.length > LANGUAGE_MAX_CHARS)
    throw malformed('parameters.language', language, 'a language such as "en-US"');
  return language;
}

/** The samples of one of several channels that take turns, one byte each. */
function channelOf(bytes: Uint8Array, channel: number, tracks: readonly Track[], codec: Codec): Uint8Array {
  if (tracks.length === 1) return bytes;
  const own = new Uint8Array(bytesToSamples(bytes.length, codec) / tracks.length);
  for (let at = 0; at < own.length; at++) own[at] = bytes[at * tracks.length + channel] ?? 0;
  return own;
}
