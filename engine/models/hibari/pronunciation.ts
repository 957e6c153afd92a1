/** How English is said, from the data of an installed hibari, for its voices and for those of Kokoro. */
import type { Lexicon } from '../lexicon.ts';
import type { Accent } from '../phoneme-symbols.ts';
import { openPhonemizer, type Phonemizer } from './phonemes/phonemizer.ts';
import { readVocabulary, type Vocabulary } from './voice-files.ts';

/** The phonemizers of a folder, and the numbers of their phonemes. */
export interface Pronunciation {
  readonly vocabulary: Vocabulary;
  /** Opened when it is first asked for. @throws Refusal `model_missing` when its data cannot be read */
  phonemizer(accent: Accent): Promise<Phonemizer>;
}

/** @throws Error when the numbers of phonemes cannot be read */
export async function openPronunciation(folder: string, lexicon: Pick<Lexicon, 'phonemes'>): Promise<Pronunciation> {
  const opened = new Map<Accent, Promise<Phonemizer>>();
  return {
    vocabulary: await readVocabulary(folder),
    phonemizer: (accent) => {
      const phonemizer = opened.get(accent) ?? openPhonemizer({ folder, accent, overrides: lexicon.phonemes(accent) });
      opened.set(accent, phonemizer);
      return phonemizer;
    },
  };
}
