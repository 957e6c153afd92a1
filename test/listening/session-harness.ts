/** A listening session on a fake clock with a fake engine, and everything that it told. */
import { samplesToPcm16 } from '../../src/audio/pcm.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import {
  type Flushed,
  type ListeningFormat,
  type ListeningOptions,
  ListeningSession,
} from '../../src/listening/listening-session.ts';
import type { TranscriberEvent } from '../../src/transcription/live-transcriber.ts';
import { FakeClock } from '../fakes/clock.ts';
import { FakeEngine } from '../fakes/engine.ts';

const PIECE_MS = 20;

interface Told {
  readonly event: TranscriberEvent;
  readonly channel: number;
  readonly isFlushed: boolean;
}

type Options = Partial<
  Pick<ListeningOptions, 'endpointMs' | 'language' | 'hotWords' | 'partials' | 'turns' | 'wordTimes'>
> & {
  readonly format?: Partial<ListeningFormat>;
  readonly settings?: Readonly<Record<string, string>>;
};

export class SessionHarness {
  readonly clock = new FakeClock();
  readonly engine = new FakeEngine(this.clock);
  readonly told: Told[] = [];
  /** Finals and flushes in their order: `W1.`, `flush 1`. */
  readonly course: string[] = [];
  readonly flushes: Flushed[] = [];
  readonly pauses: boolean[] = [];
  readonly failures: unknown[] = [];
  readonly session: ListeningSession;
  readonly #bytesPerMs: number;

  constructor({ format = {}, settings = {}, ...options }: Options = {}) {
    const whole = { encoding: 'linear16', rateHz: 16_000, channels: 1, ...format } as const;
    this.#bytesPerMs = (whole.rateHz * whole.channels * (whole.encoding === 'linear16' ? 2 : 1)) / 1000;
    const nothing = (): void => undefined;
    this.session = new ListeningSession({
      engine: this.engine,
      clock: this.clock,
      settings: readSettings(settings),
      metrics: { partial: nothing, final: nothing, partialDropped: nothing, finalLost: nothing, joint: nothing },
      format: whole,
      ...options,
      events: {
        onEvent: (event, channel, isFlushed) => {
          this.told.push({ event, channel, isFlushed });
          if (event.type === 'caption' && event.final) this.course.push(event.text);
        },
        onFlushed: (flushed) => {
          this.flushes.push(flushed);
          this.course.push(`flush ${flushed.finals.join(' ')}`);
        },
        onFailed: (error) => this.failures.push(error),
        onPausable: (isFull) => this.pauses.push(isFull),
      },
    });
  }

  /** Sends `bytes` at the pace of speech. */
  async send(bytes: Uint8Array): Promise<void> {
    const piece = Math.round(PIECE_MS * this.#bytesPerMs);
    for (let at = 0; at < bytes.length; at += piece) {
      this.session.push(bytes.subarray(at, at + piece));
      await this.clock.run(PIECE_MS, PIECE_MS);
    }
  }

  /** Says samples at 16 kHz as linear16. */
  say(samples: Int16Array): Promise<void> {
    return this.send(samplesToPcm16(samples));
  }

  /** Ends the session, moving the clock until it is over. */
  async end(): Promise<void> {
    let isOver = false;
    void this.session.end().then(() => {
      isOver = true;
    });
    for (let ms = 0; !isOver && ms < 120_000; ms += 10) await this.clock.run(10);
  }

  get captions(): (Told & { event: Extract<TranscriberEvent, { type: 'caption' }> })[] {
    return this.told.flatMap(({ event, ...more }) => (event.type === 'caption' ? [{ event, ...more }] : []));
  }

  get finals(): ReturnType<SessionHarness['captions']['slice']> {
    return this.captions.filter(({ event }) => event.final);
  }

  /** What was told of speech: `speech.started` and so on, with its time. */
  get speech(): [string, number][] {
    return this.told.flatMap(({ event }) => ('atMs' in event ? [[event.type, event.atMs] as [string, number]] : []));
  }
}
