/** One answer of a Realtime session on its way to the client: its text, its sound, and what of it was heard. */
import { heardPart } from '../../calls/outbound/heard-text.ts';
import type { Clock } from '../../foundation/clock.ts';
import { bytesToMs, type Codec, msToBytes } from '../../foundation/units.ts';
import type { SpeechService } from '../../http/speech/speech-service.ts';
import { encodeBase64 } from '../../protocols/base64.ts';
import type { ResolvedVoice } from '../../speech/voice-resolver.ts';
import { SpeechStream } from '../shared/speech-stream.ts';
import type { OutgoingResponse } from './wire/outgoing-response.ts';

/** Longest sound in one event. */
const EVENT_MS = 200;
/** Text that waits to be spoken; brains that are faster are read on, and bounded by what an answer can have. */
const WAITING_MAX_CHARS = 1_048_576;
/** What is not spoken to its end is heard at about this pace. */
const HEARD_CHAR_MS = 65;

interface SpokenAnswerOptions {
  readonly response: OutgoingResponse;
  /** Null = the answer is text alone. */
  readonly speech: {
    readonly service: SpeechService;
    /** Asked with the first text. */
    voice(): Promise<ResolvedVoice>;
    readonly codec: Codec;
  } | null;
  readonly clock: Clock;
  /** Resolves when all that was sent has been handed to the system. */
  sent(): Promise<void>;
  /** All of it has been sent. */
  onDone(): void;
  onFailed(error: unknown): void;
}

/** A stretch of the text, and when its sound ends, in ms from the beginning of the answer. */
interface Stretch {
  readonly text: string;
  readonly endMs: number;
}

/** See above. */
export class SpokenAnswer {
  readonly #options: SpokenAnswerOptions;
  readonly #stretches: Stretch[] = [];
  /** Opened with the first text. */
  #stream: Promise<SpeechStream> | null = null;
  #soundMs = 0;
  /** Text has come whose end has not. */
  #isOpen = false;
  /** Ends of the text whose sound has not been sent. */
  #unspokenEnds = 0;
  #beganAtMs: number | null = null;
  #isClosed = false;

  constructor(options: SpokenAnswerOptions) {
    this.#options = options;
  }

  get response(): OutgoingResponse {
    return this.#options.response;
  }

  /** Text behind a complete one that is still being spoken goes on with the answer: its client plays one at a time. */
  write(text: string): void {
    const { response, speech, onFailed } = this.#options;
    const joined = this.#isOpen || isSpaced(response.text, text) ? text : ` ${text}`;
    this.#isOpen = true;
    response.addText(joined);
    if (speech === null) return;
    this.#stream ??= this.#open(speech);
    this.#stream.then((stream) => stream.write(joined)).catch(onFailed);
  }

  /** The text is complete. */
  finish(): void {
    const { onDone, onFailed } = this.#options;
    this.#isOpen = false;
    if (this.#stream === null) {
      onDone();
      return;
    }
    this.#unspokenEnds++;
    this.#stream.then((stream) => stream.flush()).catch(onFailed);
  }

  /** Nothing more is sent. */
  close(): void {
    this.#isClosed = true;
    void this.#stream?.then((stream) => stream.close()).catch(() => undefined);
  }

  /** What a client has heard that plays all that it gets, as soon as it comes; null = nothing was sent. */
  get playedMs(): number | null {
    if (this.#beganAtMs === null) return null;
    return Math.min(this.#options.clock.nowMs() - this.#beganAtMs, this.#soundMs);
  }

  /** The text whose sound lies before `atMs`, up to its last whole word. */
  heardUntil(atMs: number): string {
    let heard = '';
    let fromMs = 0;
    for (const { text, endMs } of this.#stretches) {
      if (atMs < endMs) return heard + heardPart(text, (atMs - fromMs) / (endMs - fromMs));
      heard += text;
      fromMs = endMs;
    }
    const rest = this.#options.response.text.slice(heard.length);
    return rest === '' ? heard : heard + heardPart(rest, (atMs - fromMs) / (HEARD_CHAR_MS * rest.length));
  }

  async #open({ service, voice, codec }: NonNullable<SpokenAnswerOptions['speech']>): Promise<SpeechStream> {
    const { clock, onFailed } = this.#options;
    const stream = new SpeechStream({
      service,
      voice: await voice(),
      codec,
      clock,
      waitingMaxChars: WAITING_MAX_CHARS,
      send: (sound) => this.#send(sound, codec),
      onSpoken: (text) => this.#stretches.push({ text, endMs: this.#soundMs }),
      onFlushed: async () => this.#onFlushed(),
      onSkipped: () => undefined,
      onFull: () => undefined,
      onFailed,
    });
    if (this.#isClosed) stream.close();
    return stream;
  }

  #onFlushed(): void {
    this.#unspokenEnds--;
    if (this.#unspokenEnds === 0 && !this.#isOpen) this.#options.onDone();
  }

  async #send(sound: Uint8Array, codec: Codec): Promise<void> {
    const { response, clock, sent } = this.#options;
    this.#beganAtMs ??= clock.nowMs();
    const most = msToBytes(EVENT_MS, codec);
    for (let at = 0; at < sound.length; at += most) {
      if (this.#isClosed) return;
      const part = sound.subarray(at, at + most);
      response.addSound(encodeBase64(part));
      this.#soundMs += bytesToMs(part.length, codec);
      // A long sentence at once is more than may wait for a client.
      await sent();
    }
  }
}

function isSpaced(before: string, next: string): boolean {
  return before === '' || /\s$/.test(before) || /^\s/.test(next);
}
