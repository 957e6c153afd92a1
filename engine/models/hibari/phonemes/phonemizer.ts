/** Text to phonemes in English, in the alphabet that the voices of hibari and Kokoro were trained on. */

/** How English is pronounced: General American or British. */
export type Accent = 'us' | 'gb';

/** A stretch of a line that can be synthesized by itself. */
export interface Clause {
  /** The words that it was made of; those of all clauses joined are the text as it was read. */
  readonly text: string;
  /** Symbols of the voice's `vocab.json`; those of all clauses joined are the phonemes of the line. */
  readonly phonemes: string;
}

/** What an operator wants pronounced otherwise: the word or phrase, as it is written, to its phonemes. */
export type PhonemeOverrides = ReadonlyMap<string, string>;

/** Turns lines of text into phonemes. Any text will do: what nobody can say is left out. */
export interface Phonemizer {
  /** The phonemes of a line, without spaces at its ends; empty when nothing in it can be said. */
  phonemize(text: string): Promise<string>;
  /**
   * The same phonemes cut behind the punctuation of clauses, and into stretches of at most `maxPhonemes` (400 unless
   * given) in a clause that is longer. A clause ends with the space that follows it.
   */
  phonemizeClauses(text: string, maxPhonemes?: number): Promise<Clause[]>;
}

/** Where a phonemizer finds its data and how it pronounces. */
export interface PhonemizerOptions {
  /** Folder of the installed voice: lexicons, tagger, networks. */
  readonly folder: string;
  readonly accent: Accent;
  readonly overrides?: PhonemeOverrides;
}
