import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { nextTurn } from '../../foundation/next-turn.ts';
import { bytesToMs, type Codec } from '../../foundation/units.ts';
import type { Playout } from './playout.ts';
import { RecentPlayback } from './recent-playback.ts';
import type { HeardUtterance, SentenceReport, SpokenUtterance, VoiceSound } from './spoken-utterance.ts';
import type { UtterancePiece } from './utterance-pieces.ts';

/** Pieces without sound wait for nobody; after so many of them everybody else has a turn. */
const SILENT_PIECES_MAX = 50;

/** Utterances that may wait in one call, the one that sounds included. */
const UTTERANCES_MAX = 200;
/** What all of them may hold: two bytes a character, two a sample. */
const QUEUE_MAX_BYTES = 33_554_432;

interface SpeechQueueOptions {
  readonly codec: Codec;
  readonly clock: Clock;
  /** Tells {@link SpeechQueue.onSoundBegun} and {@link SpeechQueue.onSoundHeard} of the sounds that it is given. */
  readonly playout: Playout<VoiceSound>;
  /** How long the call has lasted by its sound. */
  callMs(): number;
  /** It begins to sound. */
  onBegun(utterance: SpokenUtterance): void;
  /** A key's tone begins to sound. */
  onDigit(digit: string): void;
  /** A piece of it with text was heard. */
  onHeard(utterance: SpokenUtterance, text: string): void;
  /** It is over: heard to its end, or cut off. */
  onOver(utterance: SpokenUtterance, heard: HeardUtterance, interrupted: boolean): void;
  /** Its pieces could not be made any further; it ends with what was made. */
  onSpoilt(utterance: SpokenUtterance, error: unknown): void;
  /** Nothing is left to be said. */
  onDrained(): void;
  /** Is told what became of each sentence; left out = nobody is. */
  readonly onSentence?: ((sentence: SentenceReport) => void) | undefined;
}

/**
 * What is said in one call, one thing after the other: utterances in, their sound to playout as far ahead as that has
 * room.
 */
export class SpeechQueue {
  readonly #options: SpeechQueueOptions;
  readonly #played = new RecentPlayback();
  /** What sounds and what waits, in order. */
  readonly #utterances: SpokenUtterance[] = [];
  #waiters: (() => void)[] = [];
  #producing = false;
  /** Since when nothing is played although something is to be said, in ms of the call. */
  #pausedMs: number | null = null;

  constructor(options: SpeechQueueOptions) {
    this.#options = options;
  }

  /** How many utterances there are, the one that sounds included. */
  get length(): number {
    return this.#utterances.length;
  }

  /** @throws TrunklineError `speech_queue_full` when no other utterance may wait */
  checkLength(): void {
    if (this.length < UTTERANCES_MAX) return;
    throw new TrunklineError(
      'speech_queue_full',
      `${this.length} utterances wait in this call, expected fewer than ${UTTERANCES_MAX}`,
    );
  }

  /** @throws TrunklineError `speech_queue_full` when the utterances may not hold so much more */
  checkRoom(moreBytes: number): void {
    const heldBytes = this.#utterances.reduce((sum, { options }) => sum + options.heldBytes(), moreBytes);
    if (heldBytes <= QUEUE_MAX_BYTES) return;
    throw new TrunklineError(
      'speech_queue_full',
      `${heldBytes} bytes of text and sound wait in this call, expected at most ${QUEUE_MAX_BYTES}`,
    );
  }

  /** The utterance that sounds now; null while none does. */
  get sounding(): SpokenUtterance | null {
    const first = this.#utterances[0];
    return first?.begun ? first : null;
  }

  /** Cuts off those at the end of the queue that make way for whatever is said next. */
  preempt(): void {
    this.#cutFrom(this.#utterances.findLastIndex(({ options }) => !options.preemptible) + 1);
  }

  /** Puts an utterance at the end of the queue. */
  push(utterance: SpokenUtterance): void {
    this.#utterances.push(utterance);
    if (!this.#producing) void this.#produce();
  }

  /**
   * Falls silent at once and throws everything away. What was heard of the first utterance; null when there was none.
   */
  interrupt(): HeardUtterance | null {
    return this.#cutFrom(0);
  }

  /** Stops playing where it is. What the carrier has and did not play has not begun. */
  pause(): void {
    const { playout, callMs } = this.#options;
    const nowMs = callMs();
    for (const utterance of this.#utterances)
      if (utterance.startMs !== null && utterance.startMs > nowMs) utterance.startMs = null;
    this.#pausedMs ??= nowMs;
    playout.pause();
  }

  /** Goes on after {@link pause}. */
  resume(): void {
    this.#pausedMs = null;
    this.#options.playout.resume();
    for (const utterance of this.#utterances) {
      const { nextSound } = utterance;
      if (utterance.begun && nextSound !== undefined) utterance.startMs ??= this.#startOf(nextSound);
    }
  }

  /** The text of all that sounded within the last `windowMs`; empty when nothing did. */
  playedWithin(windowMs: number): string {
    return this.#played.since(this.#nowMs() - windowMs);
  }

  /** Resolves when nothing is left to be said. */
  drained(): Promise<void> {
    if (this.#utterances.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** The first frame of a sound was sent. */
  onSoundBegun(sound: VoiceSound): void {
    const { utterance } = sound;
    if (utterance.over) return;
    sound.begunMs ??= this.#nowMs();
    this.#played.begin(sound, sound.text, this.#nowMs());
    if (sound.digit !== undefined) this.#options.onDigit(sound.digit);
    if (utterance.begun) return;
    utterance.begun = true;
    utterance.startMs = this.#startOf(sound);
    this.#options.onBegun(utterance);
  }

  /** A sound was played to its end. */
  onSoundHeard(sound: VoiceSound): void {
    const { utterance, text } = sound;
    if (utterance.over) return;
    this.#played.end(sound, this.#nowMs());
    utterance.noteHeard(sound);
    this.#report(sound, sound.durationMs, false);
    if (text !== '') this.#options.onHeard(utterance, text);
    this.#finishIfPlayed(utterance);
  }

  /** Makes what is to be said, in order. */
  async #produce(): Promise<void> {
    this.#producing = true;
    for (let next = this.#unmade(); next !== undefined; next = this.#unmade()) {
      try {
        await this.#make(next);
      } catch (error) {
        this.#options.onSpoilt(next, error);
      }
      next.made = true;
      this.#finishIfPlayed(next);
    }
    this.#producing = false;
  }

  #unmade(): SpokenUtterance | undefined {
    return this.#utterances.find(({ made }) => !made);
  }

  /** Holds on to the utterance that it began with: once that is over, what comes too late lands nowhere. */
  async #make(utterance: SpokenUtterance): Promise<void> {
    const { playout } = this.#options;
    await playout.room();
    if (utterance.over) return;
    let silent = 0;
    for await (const piece of utterance.pieces()) {
      if (utterance.over) return;
      const sound = utterance.dispatch(piece, this.#nowMs());
      await this.#play(sound, piece.parts);
      if (sound.durationMs === 0 && ++silent % SILENT_PIECES_MAX === 0) await nextTurn();
      await playout.room();
      if (utterance.over) return;
    }
  }

  /** Resolves when all of a sound has been made; a part that comes too late lands nowhere. */
  async #play(sound: VoiceSound, parts: UtterancePiece['parts']): Promise<void> {
    const { codec, playout } = this.#options;
    const track = playout.open(sound);
    let isWhole = false;
    try {
      for await (const part of parts) {
        sound.firstMs ??= this.#nowMs();
        sound.grow(bytesToMs(part.length, codec));
        track.add(part);
      }
      isWhole = true;
    } finally {
      sound.end(isWhole);
      track.end();
    }
  }

  #finishIfPlayed(utterance: SpokenUtterance): void {
    if (utterance.over || !utterance.played) return;
    this.#utterances.splice(this.#utterances.indexOf(utterance), 1);
    utterance.endMs = this.#options.callMs();
    this.#options.onOver(
      utterance,
      utterance.end(() => 0),
      false,
    );
    this.#noticeDrained();
  }

  /**
   * Throws away the utterances from number `index` on. What was heard of the first of them; null when there is none.
   */
  #cutFrom(index: number): HeardUtterance | null {
    const { playout, callMs } = this.#options;
    const cut = this.#utterances.splice(index);
    if (cut.length === 0) return null;
    for (const utterance of cut) {
      utterance.endMs = this.#pausedMs ?? callMs();
      for (const sound of utterance.sounds) this.#report(sound, playout.heardMs(sound), true);
    }
    const fates = cut.map((utterance) => ({ utterance, heard: utterance.end((sound) => playout.heardMs(sound)) }));
    this.#played.endAll(this.#nowMs());
    playout.drop(({ utterance }) => utterance.over);
    if (this.#utterances.length === 0) this.resume();
    for (const { utterance, heard } of fates) this.#options.onOver(utterance, heard, true);
    this.#noticeDrained();
    return fates[0]?.heard ?? null;
  }

  #report(sound: VoiceSound, heardMs: number, isInterrupted: boolean): void {
    const { onSentence } = this.#options;
    const { utterance, sentence, askedMs, firstMs, begunMs, durationMs: madeMs } = sound;
    if (onSentence === undefined || sentence === undefined) return;
    const times = { askedMs, firstMs, begunMs, overMs: this.#nowMs() };
    onSentence({ utterance: utterance.id, ...sentence, ...times, madeMs, heardMs, isInterrupted });
  }

  /** In whole ms of the call. */
  #startOf(sound: VoiceSound): number {
    const { playout, callMs } = this.#options;
    return Math.round(callMs() + playout.startsInMs(sound));
  }

  #noticeDrained(): void {
    if (this.#utterances.length > 0) return;
    this.#options.onDrained();
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  #nowMs(): number {
    return this.#options.clock.nowMs();
  }
}
