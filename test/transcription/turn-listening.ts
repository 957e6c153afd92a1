/** A live transcriber whose turns somebody waits for. */
import type { DigitsExpected } from '../../src/transcription/turn-policy.ts';
import type { TurnListener } from '../../src/transcription/turns.ts';
import { silence, spoken } from '../fakes/engine.ts';
import { type settingsWith, TranscriberHarness } from './transcriber-harness.ts';

/** A track with an app that waits for its turns, and a turn model that answers with `probabilities` in turn, then 1. */
export class Listening implements TurnListener {
  readonly noted: string[] = [];
  wanted = true;
  digits: DigitsExpected | null = null;
  readonly track: TranscriberHarness;

  constructor(probabilities: readonly number[] = [], settings: Partial<ReturnType<typeof settingsWith>> = {}) {
    this.track = new TranscriberHarness({ settings: { JOIN_MS: 0, ...settings }, turns: this });
    const { engine } = this.track;
    engine.turnModel = 'fake-turn-1';
    engine.decide = () => probabilities[engine.turns.length - 1] ?? 1;
  }

  isWanted = (): boolean => this.wanted;
  expected = (): DigitsExpected | null => this.digits;
  onEnded = (by: string): void => void this.noted.push(by);
  onContinued = (): void => void this.noted.push('continued');
  onAnswer = (answer: string): void => void this.noted.push(answer);

  say(...words: number[]): Promise<void> {
    return this.track.say(spoken(words));
  }

  pause(durationMs: number): Promise<void> {
    return this.track.say(silence(durationMs));
  }

  /** The utterances of each turn so far. */
  get turns(): [number, number][] {
    return this.track.turns.map(({ first, last }) => [first, last]);
  }

  /** Silence between the end of the latest turn's speech and the event. */
  get waitedMs(): number {
    const { events, emittedAtMs } = this.track;
    const at = events.findLastIndex(({ type }) => type === 'turn.ended');
    const event = events[at];
    return event?.type === 'turn.ended' ? (emittedAtMs[at] ?? 0) - event.atMs : Number.NaN;
  }
}

/** At most some windows above `ms`. */
export const near = (ms: number) => ({ asymmetricMatch: (value: number) => value >= ms && value <= ms + 60 });
