/** One channel of a listening session: a transcriber for each stretch of audio between two flushes, on one timeline. */
import { ENGINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import type { Engine } from '../engine-client/engine.ts';
import type { Clock } from '../foundation/clock.ts';
import { samplesToMs } from '../foundation/units.ts';
import {
  LiveTranscriber,
  type PausedSpeech,
  type TranscriberEvent,
  type TranscriberMetrics,
  type TranscriberSettings,
  type TurnListener,
} from '../transcription/live-transcriber.ts';
import { TrackLanguage } from '../transcription/track-language.ts';

/** What a channel works with, and whom it tells. */
export interface ChannelOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly metrics: TranscriberMetrics;
  readonly partials: boolean;
  readonly wordTimes: boolean;
  readonly turns: TurnListener | undefined;
  /** Whether {@link onPaused} and {@link onResumed} are wanted. */
  readonly hasPauses: boolean;
  /** Asked whenever a stretch begins. */
  settings(): TranscriberSettings;
  /** `isFlushed`: of a stretch that a flush has ended. */
  onEvent(event: TranscriberEvent, isFlushed: boolean): void;
  /** As the transcriber's `pauses` are told. */
  onPaused(paused: PausedSpeech): void;
  onResumed(): void;
  /** Speech that began at `startMs` turned out to have no words, and nothing was told of it but that it began. */
  onWordless(startMs: number): void;
  /** The transcriber's backlog fell again. */
  onDrained(): void;
}

interface Stretch {
  readonly transcriber: LiveTranscriber;
  /** Samples at the engine's rate. */
  sampleCount: number;
  isFlushed: boolean;
}

/** See above. Its times are ms of the session's audio, and its utterances count on over flushes. */
export class ListeningChannel {
  readonly #options: ChannelOptions;
  readonly #expected = { language: new TrackLanguage(), hotWords: [] as readonly string[] };
  /** Samples at the engine's rate, of the session. */
  #receivedSamples = 0;
  /** The last utterance of which anything was told. */
  #utterance = 0;
  /** Finals with words since the flush before. */
  #finals = 0;
  #current: Stretch;
  #ending: Stretch | null = null;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#current = this.#open();
  }

  /** Audio received but not yet examined, in ms. */
  get backlogMs(): number {
    return this.#current.transcriber.backlogMs;
  }

  /** The speech that is expected; null = the recogniser finds out, or assumes. */
  expect({ language, hotWords }: { language?: string | null; hotWords?: readonly string[] }): void {
    if (language !== undefined) this.#expected.language.name(language);
    if (hotWords !== undefined) this.#expected.hotWords = hotWords;
  }

  /** The next samples at the engine's rate, which had come at `arrivedAtMs` on the clock. */
  push(samples: Int16Array, arrivedAtMs?: number): void {
    if (samples.length === 0) return;
    this.#receivedSamples += samples.length;
    this.#current.sampleCount += samples.length;
    this.#current.transcriber.push(samples, arrivedAtMs);
  }

  /**
   * Ends the audio so far and begins a new stretch. Resolves with the number of finals with words since the flush
   * before, when they have been told.
   */
  async flush(): Promise<number> {
    const stretch = this.#current;
    // In less than a window nothing is heard: it goes on, and a client that flushes all the time costs nothing.
    if (stretch.sampleCount >= VAD_WINDOW_SAMPLES) {
      stretch.isFlushed = true;
      this.#ending = stretch;
      this.#current = this.#open();
      await stretch.transcriber.end();
      stretch.transcriber.close();
      this.#ending = null;
    }
    const finals = this.#finals;
    this.#finals = 0;
    return finals;
  }

  /** Forgets what was said and is not final. */
  drop(): void {
    this.#finals = 0;
    if (this.#current.sampleCount === 0) return;
    this.#current.transcriber.close();
    this.#current = this.#open();
  }

  /** From the next utterance on this much silence ends one. */
  setEndpoint(endpointMs: number): void {
    this.#current.transcriber.setEndpoint(endpointMs);
  }

  /** Takes new settings at once if no audio came since the last flush. */
  renew(): void {
    if (this.#current.sampleCount > 0) return;
    this.#current.transcriber.close();
    this.#current = this.#open();
  }

  /** Gives up at once; nothing more is told. */
  close(): void {
    this.#ending?.transcriber.close();
    this.#current.transcriber.close();
  }

  #open(): Stretch {
    const { engine, clock, metrics, partials, wordTimes, turns, settings, onEvent, onDrained } = this.#options;
    const { hasPauses, onPaused, onResumed, onWordless } = this.#options;
    const before = this.#utterance;
    const transcriber = new LiveTranscriber({
      engine,
      clock,
      metrics,
      partials,
      wordTimes,
      turns,
      ...(hasPauses && {
        pauses: {
          onPaused: (paused) => onPaused({ ...paused, utterance: before + paused.utterance }),
          onResumed,
        },
      }),
      settings: settings(),
      onSettled: ({ hasFinal, lostMs, startMs }) => {
        if (!hasFinal && lostMs === 0) onWordless(startMs);
      },
      expected: this.#expected,
      originMs: samplesToMs(this.#receivedSamples, ENGINE_RATE_HZ),
      emit: (event) => {
        // A final that has been told stays: what was read again later is of no use to anybody here.
        if (event.type !== 'revision') onEvent(this.#numbered(event, before), stretch.isFlushed);
      },
    });
    const stretch: Stretch = { transcriber, sampleCount: 0, isFlushed: false };
    transcriber.onDrained(onDrained);
    return stretch;
  }

  /** The utterances of one transcriber count from 1, those of the channel from the last one `before`. */
  #numbered(event: TranscriberEvent, before: number): TranscriberEvent {
    if (event.type === 'turn.ended') return { ...event, first: before + event.first, last: before + event.last };
    if (event.type !== 'caption') return event;
    const utterance = before + event.utterance;
    this.#utterance = Math.max(this.#utterance, utterance);
    if (event.final && event.text !== '') this.#finals++;
    return { ...event, utterance };
  }
}
