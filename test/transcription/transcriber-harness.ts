/** A live transcriber on a fake clock with a fake engine, and everything it emitted. */
import type { Engine } from '../../src/engine-client/engine.ts';
import type { ExpectedAnswer } from '../../src/transcription/expected-answer.ts';
import type { JointOutcome } from '../../src/transcription/joint-readings.ts';
import {
  LiveTranscriber,
  type LossReason,
  type Revision,
  type TranscriberEvent,
  type TranscriberSettings,
  type TurnEnded,
  type TurnListener,
} from '../../src/transcription/live-transcriber.ts';
import { TrackLanguage } from '../../src/transcription/track-language.ts';
import { FakeClock, settle } from '../fakes/clock.ts';
import { FakeEngine } from '../fakes/engine.ts';
import { readSettings } from '../helpers/settings.ts';

export type Caption = Extract<TranscriberEvent, { type: 'caption' }>;

const PIECE_MS = 20;
const SAMPLES_PER_MS = 16;

/** The default settings with some of them changed; nothing is read twice unless JOIN_MS is set. */
export function settingsWith(changes: Partial<TranscriberSettings> = {}): TranscriberSettings {
  return { ...readSettings({ JOIN_MS: '0' }), ...changes };
}

interface Options {
  readonly settings?: Partial<TranscriberSettings>;
  readonly partials?: boolean;
  readonly urgency?: 'live' | 'batch';
  readonly originMs?: number;
  readonly turns?: TurnListener;
  /** The answer that is expected; null = none. */
  readonly expected?: ExpectedAnswer | null;
  readonly marksBackground?: boolean;
  /** In place of the harness's own. */
  readonly engineOn?: (clock: FakeClock) => Engine;
}

export class TranscriberHarness {
  readonly clock = new FakeClock();
  readonly engine = new FakeEngine(this.clock);
  readonly events: TranscriberEvent[] = [];
  readonly emittedAtMs: number[] = [];
  readonly finalsBy: { how: string; lagMs: number }[] = [];
  readonly partialLagsMs: number[] = [];
  readonly lost: LossReason[] = [];
  readonly joint: JointOutcome[] = [];
  dropped = 0;
  readonly transcriber: LiveTranscriber;

  constructor({ settings = {}, originMs = 0, partials = true, urgency = 'live', ...more }: Options = {}) {
    const { turns, expected = null, engineOn, marksBackground } = more;
    this.transcriber = new LiveTranscriber({
      settings: settingsWith(settings),
      engine: engineOn?.(this.clock) ?? this.engine,
      clock: this.clock,
      originMs,
      partials,
      urgency,
      turns,
      marksBackground,
      expected: { language: new TrackLanguage(), hotWords: [], answer: expected },
      emit: (event) => {
        this.events.push(event);
        this.emittedAtMs.push(this.clock.nowMs());
      },
      metrics: {
        partial: (lagMs) => this.partialLagsMs.push(lagMs),
        final: (how, lagMs) => this.finalsBy.push({ how, lagMs }),
        partialDropped: () => {
          this.dropped++;
        },
        finalLost: (reason) => this.lost.push(reason),
        joint: (outcome) => this.joint.push(outcome),
      },
    });
  }

  /** Says `audio` at the pace of a phone call: 20 ms of it each 20 ms. */
  async say(audio: Int16Array): Promise<void> {
    const piece = PIECE_MS * SAMPLES_PER_MS;
    for (let at = 0; at < audio.length; at += piece) {
      this.clock.advance(PIECE_MS);
      this.transcriber.push(audio.subarray(at, at + piece));
      await settle();
    }
  }

  /** Pushes `audio` in one go, or in pieces of the given sizes in turn, without any time passing. */
  async pour(audio: Int16Array, sizes: readonly number[] = [audio.length]): Promise<void> {
    for (let at = 0, n = 0; at < audio.length; n++) {
      const size = sizes[n % sizes.length] ?? audio.length;
      this.transcriber.push(audio.subarray(at, at + size));
      at += size;
      await settle();
    }
  }

  /** Ends the track, moving the clock until the last final is out. */
  async end(): Promise<void> {
    let ended = false;
    void this.transcriber.end().then(() => {
      ended = true;
    });
    for (let ms = 0; !ended && ms < 120_000; ms += 10) await this.clock.run(10);
  }

  get captions(): Caption[] {
    return this.events.filter((event) => event.type === 'caption');
  }

  get partials(): Caption[] {
    return this.captions.filter((caption) => !caption.final);
  }

  get finals(): Caption[] {
    return this.captions.filter((caption) => caption.final);
  }

  get revisions(): Revision[] {
    return this.events.filter((event) => event.type === 'revision');
  }

  /** The ends of turns. */
  get turns(): TurnEnded[] {
    return this.events.filter((event) => event.type === 'turn.ended');
  }

  get gaps(): Extract<TranscriberEvent, { type: 'gap' }>[] {
    return this.events.filter((event) => event.type === 'gap');
  }

  /** Every word of the finals, in order. */
  get words(): string[] {
    return this.finals.flatMap((final) => final.text.toLowerCase().replace(/\./gu, '').split(' '));
  }
}
