/**
 * Text of one client to sound while it comes: utterances one after the other, each ended by a flush. For sockets of
 * speech.
 */
import type { Clock } from '../../foundation/clock.ts';
import { bytesToMs, type Codec } from '../../foundation/units.ts';
import type { SpeechService } from '../../http/speech/speech-service.ts';
import { TextStream } from '../../speech/text-stream.ts';
import type { ResolvedVoice } from '../../speech/voice-resolver.ts';

/** What an utterance weighs beside its text, in characters: one without text is not free. */
const UTTERANCE_CHARS = 100;

/** Longest text of an utterance, which is remembered as long as it is open: what comes then is another one. */
const UTTERANCE_MAX_CHARS = 65_536;

/** A closing quote may stand behind the end of a sentence. */
const END_CHARS = 2;

interface SpeechStreamOptions {
  readonly service: Pick<SpeechService, 'speakLive'>;
  readonly voice: ResolvedVoice;
  readonly codec: Codec;
  readonly clock: Clock;
  /** Text that may wait, in characters, before the client is to be read no longer. */
  readonly waitingMaxChars: number;
  /** Resolves when the sound has been sent. */
  send(sound: Uint8Array): Promise<void>;
  /** All sound of a flushed utterance has been sent. */
  onFlushed(): Promise<void>;
  /** All sound of this stretch of the text, as it was written, has been sent. */
  onSpoken?(text: string): void;
  /** The engine failed at a stretch, which is left out. */
  onSkipped(): void;
  /** Too much text waits, or no longer. */
  onFull(isFull: boolean): void;
  /** Nothing more comes of what failed like this. */
  onFailed(error: unknown): void;
}

interface Utterance {
  readonly text: TextStream;
  /** Nothing is added to it any more. */
  isEnded: boolean;
  isFlushed: boolean;
  /** Characters that have not been spoken yet. */
  waitingChars: number;
}

/** The texts of one client. */
export class SpeechStream {
  readonly #options: SpeechStreamOptions;
  #utterances: Utterance[] = [];
  #stop = new AbortController();
  #running: Promise<void> | null = null;
  #isFull = false;
  /** When the sound that was sent began to be heard, and its length so far. */
  #heardFromMs = 0;
  #soundMs = 0;

  constructor(options: SpeechStreamOptions) {
    this.#options = options;
  }

  /** Whether anything is being said. */
  get isSpeaking(): boolean {
    return this.#running !== null;
  }

  /** The last characters of the utterance that is open; empty where none is. */
  get openEnd(): string {
    return this.#open?.text.text.slice(-END_CHARS) ?? '';
  }

  /** Adds text to the open utterance, or begins one. Ignored after {@link close}. */
  write(text: string): void {
    if (text === '' || this.#isClosed) return;
    const open = this.#open;
    if (open !== undefined && open.text.text.length + text.length > UTTERANCE_MAX_CHARS) end(open);
    const utterance = this.#open ?? this.#begin();
    utterance.waitingChars += text.length;
    utterance.text.write(text);
    this.#look();
  }

  /**
   * Ends the open utterance: all of it is spoken, then `onFlushed` is called. Without one, that is all. Ignored after
   * {@link close}.
   */
  flush(): void {
    if (this.#isClosed) return;
    const utterance = this.#open ?? this.#begin();
    utterance.isFlushed = true;
    end(utterance);
    this.#look();
  }

  /** Drops all that was not sent, flushes included. */
  clear(): void {
    if (this.#isClosed) return;
    this.#stop.abort();
    this.#stop = new AbortController();
    this.#utterances = [];
    this.#look();
  }

  /** Resolves when all text has been spoken and sent; there is to be no more. */
  async finish(): Promise<void> {
    this.#open?.text.end();
    await this.#running;
  }

  /** Drops everything; nothing is sent any more. The client is to be read again, so that its close is seen. */
  close(): void {
    this.#stop.abort();
    this.#utterances = [];
    this.#look();
  }

  /** {@link clear} leaves a signal that has not aborted, {@link close} does not. */
  get #isClosed(): boolean {
    return this.#stop.signal.aborted;
  }

  get #open(): Utterance | undefined {
    const last = this.#utterances.at(-1);
    return last?.isEnded === false ? last : undefined;
  }

  #begin(): Utterance {
    const utterance: Utterance = {
      text: new TextStream(),
      isEnded: false,
      isFlushed: false,
      waitingChars: UTTERANCE_CHARS,
    };
    this.#utterances.push(utterance);
    this.#running ??= this.#run();
    return utterance;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    // The text that began this run is written first.
    await Promise.resolve();
    for (let utterance = this.#utterances[0]; utterance !== undefined; utterance = this.#utterances[0]) {
      const { signal } = this.#stop;
      try {
        await this.#speak(utterance, signal);
        if (!signal.aborted && utterance.isFlushed) await this.#options.onFlushed();
      } catch (error) {
        if (!signal.aborted) this.#options.onFailed(error);
      }
      if (signal.aborted) continue;
      this.#utterances.shift();
      this.#look();
    }
    this.#running = null;
  }

  async #speak(utterance: Utterance, signal: AbortSignal): Promise<void> {
    const { service, voice, codec, send, onSkipped } = this.#options;
    const sound = service.speakLive({
      text: utterance.text,
      voice,
      codec,
      signal,
      onSkipped,
      dueInMs: () => this.#aheadMs,
      onSpoken: (text) => {
        utterance.waitingChars -= text.length;
        this.#options.onSpoken?.(text);
        this.#look();
      },
    });
    for await (const part of sound) {
      if (signal.aborted) return;
      this.#count(part);
      await send(part);
    }
  }

  /** How long the client still plays what was sent, at the least. */
  get #aheadMs(): number {
    return Math.max(this.#heardFromMs + this.#soundMs - this.#options.clock.nowMs(), 0);
  }

  #count(part: Uint8Array): void {
    if (this.#aheadMs === 0) {
      this.#heardFromMs = this.#options.clock.nowMs();
      this.#soundMs = 0;
    }
    this.#soundMs += bytesToMs(part.length, this.#options.codec);
  }

  #look(): void {
    const waiting = this.#utterances.reduce((sum, { waitingChars }) => sum + waitingChars, 0);
    const isFull = waiting > this.#options.waitingMaxChars;
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    this.#options.onFull(isFull);
  }
}

function end(utterance: Utterance): void {
  utterance.isEnded = true;
  utterance.text.end();
}
