/** What number the call is about: who is asked for one gives it a moment later. */
import { type Cue, cueLeftBy } from './cues.ts';
import { tokenise } from './tokens.ts';

/** An answer may take this long: a card has to be found first. */
const ANSWER_MAX_MS = 60_000;

/** One side of a call. */
export type Side = 'inbound' | 'outbound';

interface Remembered {
  readonly cue: Cue;
  readonly atMs: number;
}

/** Remembers for each side what it was asked for, or was about to say. */
export class CueMemory {
  readonly #expected = new Map<Side, Remembered>();

  /** `side` said `text`, all of it. */
  note(side: Side, text: string, nowMs: number): void {
    const { own, asked } = cueLeftBy(tokenise([text]));
    if (own !== null) this.#expected.set(side, { cue: own, atMs: nowMs });
    if (asked !== null) this.#expected.set(side === 'inbound' ? 'outbound' : 'inbound', { cue: asked, atMs: nowMs });
  }

  /** What `side` is expected to say; null = nothing. */
  expectedOf(side: Side, nowMs: number): Cue | null {
    const expected = this.#expected.get(side);
    return expected !== undefined && nowMs - expected.atMs <= ANSWER_MAX_MS ? expected.cue : null;
  }
}
