/** What is spoken in one recording: as somebody says, or as the recogniser finds out, channel by channel. */
import type { Engine } from '../engine-client/engine.ts';
import { matchLanguage } from '../foundation/languages.ts';
import { type LanguageGuess, TrackLanguage } from '../transcription/track-language.ts';

/** Languages by who names them, and by how long they were heard. */
export class RecordingLanguages {
  readonly #asked: string;
  readonly #engine: Pick<Engine, 'languages'>;
  readonly #tracks = new Map<number, TrackLanguage>();
  /** Ms of speech in each language that the recogniser found. */
  readonly #foundMs = new Map<string, number>();

  /** @param asked a code, an English name or `auto` */
  constructor(asked: string, engine: Pick<Engine, 'languages'>) {
    this.#asked = asked;
    this.#engine = engine;
  }

  /** What somebody says is spoken, of the recogniser's languages; null = nobody does. */
  get named(): string | null {
    return matchLanguage(this.#asked, this.#engine.languages);
  }

  /** The language of most of the speech; null = nobody names one, and the recogniser did not find any out. */
  get spoken(): string | null {
    return this.named ?? [...this.#foundMs].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? null;
  }

  /**
   * Takes what the recogniser found in the next clip of a channel. As in a call, one short clip does not change the
   * language: gives the one that the clip is to be read in again, or null where its text is to be taken.
   */
  judge(guess: LanguageGuess, channel: number): string | null {
    const track = this.#tracks.get(channel) ?? new TrackLanguage();
    this.#tracks.set(channel, track);
    const { current } = track;
    const isTaken = track.accepts(guess);
    track.note(guess);
    return isTaken ? null : current;
  }

  /** `ms` of speech are in this language. */
  count(language: string, ms: number): void {
    this.#foundMs.set(language, (this.#foundMs.get(language) ?? 0) + ms);
  }
}
