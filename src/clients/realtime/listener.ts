/** What listens in a Realtime session: sound in, what the recogniser tells of it out, as its configuration says. */
import type { Engine } from '../../engine-client/engine.ts';
import type { Clock } from '../../foundation/clock.ts';
import { boundHotWords, hotWordsOfPrompt, tidyHotWords } from '../../foundation/hot-words.ts';
import { ListeningSession, type ListeningSettings } from '../../listening/listening-session.ts';
import type { TranscriberEvent, TranscriberMetrics } from '../../transcription/live-transcriber.ts';
import type { SessionConfig } from './wire/session-config.ts';
import type { ItemEnd, Transcripts } from './wire/transcripts.ts';
import { endpointMsOf, prefixMsOf, type TurnDetection } from './wire/turn-detection.ts';

/** A session that begins anew counts its utterances anew; nobody speaks so many. */
const UTTERANCES_OF_A_SESSION = 10_000_000;

interface ListenerOptions {
  readonly engine: Engine;
  readonly settings: ListeningSettings;
  readonly clock: Clock;
  readonly metrics: TranscriberMetrics;
  readonly transcripts: Transcripts;
  /** Somebody began to speak. */
  onSpeech(): void;
  /** The socket is to be read no further, or again. */
  onPausable(isFull: boolean): void;
  /** Nothing more is told. */
  onFailed(error: unknown): void;
}

/** See above. Nothing is opened before there is sound. */
export class RealtimeListener {
  readonly #options: ListenerOptions;
  #config: SessionConfig;
  #session: ListeningSession | null = null;
  /** A session of another format that has not told its last finals. */
  #ending: ListeningSession | null = null;
  #sessions = 0;
  /** Where the sound of the current session begins, in ms. */
  #originMs = 0;

  constructor(options: ListenerOptions, config: SessionConfig) {
    this.#options = options;
    this.#config = config;
    this.#configureTranscripts();
  }

  /** From now on. */
  configure(config: SessionConfig): void {
    const before = this.#config;
    this.#config = config;
    const session = this.#session;
    if (session === null) {
      this.#configureTranscripts();
      return;
    }
    const { encoding, rateHz } = config.inputFormat;
    if (encoding !== before.inputFormat.encoding || rateHz !== before.inputFormat.rateHz) this.#leave(session);
    else this.#adjust(session);
  }

  append(audio: Uint8Array): void {
    this.#opened().push(audio);
  }

  /** Does `run` when all that came before has been done. */
  inOrder(run: () => void): void {
    if (this.#session === null) run();
    else this.#session.inOrder(run);
  }

  /** What was said so far becomes an item. */
  commit(): void {
    const session = this.#opened();
    const atMs = this.#originMs + session.receivedMs;
    session.inOrder(() => this.#options.transcripts.commit(atMs));
    session.flush();
  }

  /** Drops what was said and is not final; `onCleared` is called behind all sound before. */
  clear(onCleared: () => void): void {
    const session = this.#opened();
    session.reset();
    session.inOrder(() => {
      this.#options.transcripts.cleared();
      onCleared();
    });
  }

  /** No more sound comes. Resolves when all that was said is in items with their texts, or after {@link close}. */
  async end(): Promise<void> {
    const atMs = this.#originMs + (this.#session?.receivedMs ?? 0);
    await Promise.all([this.#ending?.end(), this.#session?.end()]);
    this.#options.transcripts.finish(atMs);
  }

  /** Nothing more is told. */
  close(): void {
    this.#session?.close();
    this.#ending?.close();
  }

  #opened(): ListeningSession {
    this.#session ??= this.#open();
    return this.#session;
  }

  #open(): ListeningSession {
    const { engine, settings, clock, metrics, transcripts, onFailed, onPausable } = this.#options;
    const { inputFormat, turnDetection } = this.#config;
    const originMs = this.#originMs;
    const before = UTTERANCES_OF_A_SESSION * this.#sessions++;
    const session: ListeningSession = new ListeningSession({
      engine,
      settings: { ...settings, ...sensitivityOf(turnDetection, settings) },
      clock,
      metrics,
      format: { ...inputFormat, channels: 1 },
      endpointMs: endpointMsOf(turnDetection),
      language: this.#language,
      hotWords: this.#hotWords,
      turns: {
        isWanted: () => this.#config.turnDetection?.type === 'semantic_vad',
        expected: () => null,
        onEnded: () => undefined,
        onContinued: () => undefined,
        onAnswer: () => undefined,
      },
      events: {
        onEvent: (event) => this.#tell(event, originMs, before),
        onWordless: (startMs) => transcripts.wordless(originMs + startMs),
        onFlushed: ({ atMs }) => transcripts.flushed(originMs + atMs),
        onFailed,
        onPausable: (isFull) => {
          if (session === this.#session) onPausable(isFull);
        },
      },
    });
    return session;
  }

  /** Sound of another format follows. */
  #leave(session: ListeningSession): void {
    this.#ending?.close();
    this.#ending = session;
    this.#session = null;
    this.#originMs += session.receivedMs;
    this.#options.onPausable(false);
    void session.end().then(() => {
      if (this.#ending === session) this.#ending = null;
    });
    this.#configureTranscripts();
  }

  #adjust(session: ListeningSession): void {
    const { turnDetection } = this.#config;
    session.inOrder(() => {
      this.#configureTranscripts();
      session.setEndpointMs(endpointMsOf(turnDetection));
      session.setLanguage(this.#language);
      session.setHotWords(this.#hotWords);
      session.adjust(sensitivityOf(turnDetection, this.#options.settings));
    });
  }

  #configureTranscripts(): void {
    const { turnDetection, transcription } = this.#config;
    this.#options.transcripts.configure({
      end: endOf(turnDetection),
      prefixMs: prefixMsOf(turnDetection),
      areTextsWanted: transcription !== null,
    });
  }

  /** One that the recogniser does not know is found out, or assumed. */
  get #language(): string {
    return this.#config.transcription?.language ?? '';
  }

  get #hotWords(): readonly string[] {
    const { keywords = [], prompt = '' } = this.#config.transcription ?? {};
    return boundHotWords(tidyHotWords([...keywords, ...hotWordsOfPrompt(prompt)]));
  }

  #tell(event: TranscriberEvent, originMs: number, utterancesBefore: number): void {
    const { transcripts, onSpeech } = this.#options;
    switch (event.type) {
      case 'speech.started':
        transcripts.speechStarted(originMs + event.atMs);
        onSpeech();
        return;
      case 'speech.stopped':
        transcripts.speechStopped(originMs + event.atMs);
        return;
      case 'caption':
        transcripts.caption({
          utterance: utterancesBefore + event.utterance,
          stable: event.stable,
          text: event.text,
          final: event.final,
          startMs: originMs + event.startMs,
          endMs: originMs + event.endMs,
        });
        return;
      case 'turn.ended':
        transcripts.turnEnded(originMs + event.atMs);
        return;
      case 'gap':
        transcripts.gap(originMs + event.startMs, originMs + event.endMs);
        return;
      default:
    }
  }
}

function endOf(detection: TurnDetection): ItemEnd {
  if (detection === null) return 'commit';
  return detection.type === 'semantic_vad' ? 'turn' : 'silence';
}

/** A pre-roll that is longer than ours only makes the recogniser worse, so the padding is told but not heard. */
function sensitivityOf(
  detection: TurnDetection,
  { VAD_START_THRESHOLD, VAD_STOP_THRESHOLD }: ListeningSettings,
): Pick<ListeningSettings, 'VAD_START_THRESHOLD' | 'VAD_STOP_THRESHOLD'> {
  const threshold = detection?.type === 'server_vad' ? detection.threshold : DEFAULT_THRESHOLD;
  if (threshold === DEFAULT_THRESHOLD) return { VAD_START_THRESHOLD, VAD_STOP_THRESHOLD };
  return { VAD_START_THRESHOLD: threshold, VAD_STOP_THRESHOLD: Math.min(VAD_STOP_THRESHOLD, threshold) };
}

/** What clients send who never thought about it: our own settings stand for it. */
const DEFAULT_THRESHOLD = 0.5;
