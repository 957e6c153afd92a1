/**
 * One client's live audio to text, whatever its protocol: `/ws/transcribe` and the routes under `src/clients/` are
 * encoders of what a session tells. It is no call.
 *
 * What is done to a session happens in the order in which it was asked for: a flush after the audio before it, audio
 * after the finals of the flush before it. Times in events are ms of the session's audio, and `utterance` counts from 1
 * on each channel; both go on over flushes and resets. No final is taken back.
 */
import type { Engine } from '../engine-client/engine.ts';
import type { Clock } from '../foundation/clock.ts';
import { matchLanguage } from '../foundation/languages.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { bytesToMs, msToBytes } from '../foundation/units.ts';
import type {
  PausedSpeech,
  TranscriberEvent,
  TranscriberMetrics,
  TranscriberSettings,
  TurnListener,
} from '../transcription/live-transcriber.ts';
import { UnreadTime } from '../transcription/unread-time.ts';
import { ListeningChannel } from './channel.ts';
import { Inbox, type Message } from './inbox.ts';
import { codecOf, type ListeningFormat, SoundInput } from './sound-input.ts';

export type { ListeningFormat } from './sound-input.ts';

/** Audio that may wait for the engine before the client is to be read no further. */
const BACKLOG_MAX_MS = 5000;
/** Without an endpoint only a flush or the longest utterance ends an utterance. */
const NO_ENDPOINT_MS = 600_000;
/** Less silence than this is no end of anything, unless ENDPOINT_MS says so: words are further apart. */
export const LISTENING_ENDPOINT_MIN_MS = 300;
/** Longest audio that is processed at once. */
const SLICE_MS = 1000;
/** The same of Opus, which has to be decoded. */
const OPUS_SLICE_MS = 250;
/** Stands for any audio, to ask whether audio may be taken. */
const NO_AUDIO = new Uint8Array(0);

/** The settings of a session. */
export type ListeningSettings = TranscriberSettings & Pick<Settings, 'DEFAULT_LANGUAGE'>;

/** What became of a flush. */
export interface Flushed {
  /** Finals with words since the flush before, those of this one included, for each channel. */
  readonly finals: readonly number[];
  /** Where the flush lies in the session's audio, in ms. */
  readonly atMs: number;
}

/** Whom a session tells. Nothing is told after {@link ListeningSession.close} or {@link onFailed}. */
export interface ListeningEvents {
  /**
   * Of `channel`, counted from 0.
   * @param isFlushed the event is of audio that a flush has ended: it comes before that flush's {@link onFlushed}
   */
  onEvent(event: TranscriberEvent, channel: number, isFlushed: boolean): void;
  /** Somebody pauses, and what was said of the utterance has been read: it may be all. */
  onPaused?(paused: PausedSpeech, channel: number): void;
  /** Who paused goes on. */
  onResumed?(channel: number): void;
  /** Speech of which only its beginning and end are told: what began at `startMs` had no words. */
  onWordless?(startMs: number, channel: number): void;
  /** Once for each flush, in order, when all finals of the audio before it have been told. */
  onFlushed(flushed: Flushed): void;
  /** The session is over. A `TrunklineError` is the client's to know; anything else is a fault of ours. */
  onFailed(error: unknown): void;
  /**
   * The client is to be read no further (true), or again (false). What still comes is taken all the same. When the
   * session is over it is to be read again, so that its close is seen.
   */
  onPausable(isFull: boolean): void;
}

/** What a session works with. */
export interface ListeningOptions {
  readonly engine: Engine;
  readonly settings: ListeningSettings;
  readonly clock: Clock;
  readonly metrics: TranscriberMetrics;
  readonly format: ListeningFormat;
  /** Silence that ends an utterance; null = none does. ENDPOINT_MS unless given. */
  readonly endpointMs?: number | null | undefined;
  /** As people write it; left out or empty = DEFAULT_LANGUAGE, or the recogniser finds out. */
  readonly language?: string | undefined;
  readonly hotWords?: readonly string[] | undefined;
  /** Whether to caption while someone speaks. True unless said otherwise. */
  readonly partials?: boolean | undefined;
  /** Whether finals say when their words were spoken, which costs the recogniser time. False unless said otherwise. */
  readonly wordTimes?: boolean | undefined;
  /** Who waits for the turns of each channel: without it `turn.ended` is not told. */
  readonly turns?: TurnListener | undefined;
  /** At the end, where sound had to be guessed in place of packets. */
  readonly onPacketsBroken?: ((packets: number) => void) | undefined;
  readonly events: ListeningEvents;
}

/** See above. Whoever opens one ends or closes it. */
export class ListeningSession {
  readonly #options: ListeningOptions;
  #settings: ListeningSettings;
  #endpointMs: number;
  #format: ListeningFormat;
  #input: SoundInput;
  #channels: readonly ListeningChannel[];
  #inbox: Inbox;
  readonly #unread: UnreadTime;
  #language: string;
  #hotWords: readonly string[];
  #areLanguagesKnown = false;
  #receivedBytes = 0;
  #takenBytes = 0;
  /** A flush is under way. */
  #isFlushing = false;
  /** A step is being run: what it asks for is done at once. */
  #isInStep = false;
  #isFull = false;
  /** No audio is taken any more. */
  #isEnding = false;
  #isOver = false;
  readonly #over: Promise<void>;
  #resolveOver: () => void = () => undefined;

  /** @throws TrunklineError `invalid_request` for a rate or a number of channels that is not taken */
  constructor(options: ListeningOptions) {
    const { settings, clock, format, language = '', hotWords = [] } = options;
    this.#options = options;
    // A final cannot be taken back here.
    this.#settings = { ...settings, JOIN_MS: 0 };
    this.#endpointMs = this.#usefulEndpoint(options.endpointMs);
    this.#language = language;
    this.#hotWords = hotWords;
    this.#unread = new UnreadTime(clock);
    this.#over = new Promise((resolve) => {
      this.#resolveOver = resolve;
    });
    this.#format = format;
    this.#input = new SoundInput(format);
    this.#channels = this.#openChannels();
    this.#inbox = this.#openInbox();
    void this.#awaitLanguages();
  }

  /** All audio that came, in ms. */
  get receivedMs(): number {
    return bytesToMs(this.#receivedBytes, codecOf(this.#format));
  }

  /** How far into the session's audio speech was looked for, in ms. */
  get examinedMs(): number {
    const takenMs = bytesToMs(this.#takenBytes, codecOf(this.#format));
    return takenMs - Math.max(...this.#channels.map(({ backlogMs }) => backlogMs));
  }

  /** Whether the languages of the recogniser are known; until then none can be refused. */
  get areLanguagesKnown(): boolean {
    return this.#areLanguagesKnown;
  }

  /** The client's next bytes, of any length; they are not copied. Ignored when the session is ending or over. */
  push(bytes: Uint8Array): void {
    if (this.#isOver || this.#isEnding) return;
    this.#receivedBytes += this.#input.bytesOf(bytes);
    this.#enqueue(bytes);
  }

  /** Finals of what was said so far, without waiting for silence. {@link ListeningEvents.onFlushed} follows. */
  flush(): void {
    this.inOrder(() => this.#flush((flushed) => this.#options.events.onFlushed(flushed)));
  }

  /** Drops what was said and is not final. Its time goes on; an utterance that was told of may have no end. */
  reset(): void {
    this.inOrder(() => {
      this.#input.flush();
      for (const channel of this.#channels) channel.drop();
    });
  }

  /** From the next utterance on so much silence ends one; null = none does. Less than is useful counts as that. */
  setEndpointMs(endpointMs: number | null): void {
    this.inOrder(() => {
      this.#endpointMs = this.#usefulEndpoint(endpointMs);
      for (const channel of this.#channels) channel.setEndpoint(this.#endpointMs);
    });
  }

  /** What is spoken from now on; empty = DEFAULT_LANGUAGE, or the recogniser finds out. */
  setLanguage(language: string): void {
    this.inOrder(() => {
      this.#language = language;
      this.#nameLanguage();
    });
  }

  /** Names and phrases that are likely to be said from now on. */
  setHotWords(hotWords: readonly string[]): void {
    this.inOrder(() => {
      this.#hotWords = hotWords;
      for (const channel of this.#channels) channel.expect({ hotWords });
    });
  }

  /** Other settings: at once if no audio came since the last flush or reset, otherwise from the next one on. */
  adjust(changes: Partial<ListeningSettings>): void {
    this.inOrder(() => {
      this.#settings = { ...this.#settings, ...changes, JOIN_MS: 0 };
      for (const channel of this.#channels) channel.renew();
    });
  }

  /**
   * The audio that will come. To be called before any came: later it is ignored.
   * @throws TrunklineError `invalid_request` for a rate or a number of channels that is not taken
   */
  setFormat(format: ListeningFormat): void {
    if (this.#receivedBytes > 0 || this.#isOver) return;
    const input = new SoundInput(format);
    for (const channel of this.#channels) channel.close();
    this.#input.close();
    this.#input = input;
    this.#format = format;
    this.#channels = this.#openChannels();
    this.#nameLanguage();
    this.#inbox = this.#openInbox();
  }

  /**
   * Does `run` when everything before it has been done. What it asks of the session comes at once, before what was
   * asked for meanwhile; a flush must be the last of it.
   * @param isReady asked until it is true; {@link areLanguagesKnown} is the only thing that may be waited for
   */
  inOrder(run: () => void, isReady: () => boolean = () => true): void {
    if (this.#isOver) return;
    if (this.#isInStep && !this.#isFlushing) run();
    else this.#enqueue({ isReady, run: () => this.#runStep(run) });
  }

  /** No more audio comes. Resolves when the last finals have been told, or the session was closed or failed. */
  end(): Promise<void> {
    if (!this.#isEnding) this.inOrder(() => this.#flush(() => this.close()));
    this.#isEnding = true;
    return this.#over;
  }

  /** Gives up at once; nothing more is told. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#inbox.close();
    this.#input.close();
    if (this.#input.brokenPackets > 0) this.#options.onPacketsBroken?.(this.#input.brokenPackets);
    for (const channel of this.#channels) channel.close();
    this.#resolveOver();
  }

  /** If no engine becomes ready, no language is named. */
  async #awaitLanguages(): Promise<void> {
    const { engine } = this.#options;
    if (engine.languages.length === 0) await engine.start().catch(() => undefined);
    this.#areLanguagesKnown = true;
    this.#nameLanguage();
    if (!this.#isOver) this.#inbox.run();
  }

  #nameLanguage(): void {
    const { languages } = this.#options.engine;
    const language = matchLanguage(this.#language || this.#settings.DEFAULT_LANGUAGE, languages);
    for (const channel of this.#channels) channel.expect({ language });
  }

  #usefulEndpoint(endpointMs: number | null | undefined): number {
    const { ENDPOINT_MS } = this.#settings;
    if (endpointMs === undefined) return ENDPOINT_MS;
    if (endpointMs === null) return NO_ENDPOINT_MS;
    return Math.min(Math.max(endpointMs, Math.min(LISTENING_ENDPOINT_MIN_MS, ENDPOINT_MS)), NO_ENDPOINT_MS);
  }

  #openChannels(): ListeningChannel[] {
    const { engine, clock, metrics, partials = true, wordTimes = false, turns, events } = this.#options;
    return Array.from({ length: this.#format.channels }, (_, number) => {
      const channel = new ListeningChannel({
        engine,
        clock,
        metrics,
        partials,
        wordTimes,
        turns,
        hasPauses: events.onPaused !== undefined,
        onPaused: (paused) => this.#isOver || events.onPaused?.(paused, number),
        onResumed: () => this.#isOver || events.onResumed?.(number),
        onWordless: (startMs) => this.#isOver || events.onWordless?.(startMs, number),
        settings: () => ({ ...this.#settings, ENDPOINT_MS: this.#endpointMs }),
        onEvent: (event, isFlushed) => {
          if (!this.#isOver) events.onEvent(event, number, isFlushed);
        },
        onDrained: () => this.#inbox.run(),
      });
      channel.expect({ hotWords: this.#hotWords });
      return channel;
    });
  }

  #openInbox(): Inbox {
    const isOpus = this.#format.encoding === 'opus';
    return new Inbox({
      sliceBytes: msToBytes(isOpus ? OPUS_SLICE_MS : SLICE_MS, codecOf(this.#format)),
      messageBytes: isOpus ? 1 : undefined,
      // A group of packets has to come whole, and is short.
      wholeBytes: isOpus ? (group) => this.#input.bytesOf(group) : undefined,
      mayTake: (message) => this.#mayTake(message),
      take: (message) => (message instanceof Uint8Array ? this.#takeAudio(message) : message.run()),
      onFailure: (error) => this.#fail(error),
      onRun: () => this.#tellPausable(),
    });
  }

  #enqueue(message: Message): void {
    if (this.#isOver) return;
    try {
      this.#inbox.push(message);
    } catch (error) {
      this.#fail(error);
    }
  }

  #mayTake(message: Message): boolean {
    if (this.#isFlushing) return false;
    if (!(message instanceof Uint8Array)) return message.isReady();
    return this.#channels.every(({ backlogMs }) => backlogMs <= BACKLOG_MAX_MS);
  }

  #takeAudio(bytes: Uint8Array): void {
    this.#takenBytes += this.#input.bytesOf(bytes);
    const arrivedAtMs = this.#unread.arrivedAtMs(bytesToMs(this.#takenBytes, codecOf(this.#format)));
    const channels = this.#input.push(bytes);
    for (const [number, samples] of channels.entries()) this.#channels[number]?.push(samples, arrivedAtMs);
  }

  #runStep(run: () => void): void {
    this.#isInStep = true;
    try {
      run();
    } finally {
      this.#isInStep = false;
    }
  }

  #flush(onDone: (flushed: Flushed) => void): void {
    const atMs = bytesToMs(this.#takenBytes, codecOf(this.#format));
    for (const [number, samples] of this.#input.flush().entries()) this.#channels[number]?.push(samples);
    this.#isFlushing = true;
    Promise.all(this.#channels.map((channel) => channel.flush()))
      .then((finals) => {
        this.#isFlushing = false;
        if (this.#isOver) return;
        onDone({ finals, atMs });
        this.#inbox.runAfterFinal();
      })
      .catch((error) => this.#fail(error));
  }

  /** While audio waits, reading more would only fill the memory. */
  #tellPausable(): void {
    const isFull = !this.#isOver && (!this.#inbox.isEmpty || !this.#mayTake(NO_AUDIO));
    if (isFull) this.#unread.pause();
    else this.#unread.resume();
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    if (!this.#isOver) this.#options.events.onPausable(isFull);
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.close();
    this.#options.events.onFailed(error);
  }
}
