/** The sentences of a text, as they lie in the cache one by one. */
import { normaliseText } from './normalise.ts';
import { cutToPieces } from './pieces.ts';
import { SentenceSplitter } from './sentences.ts';

/** Every text of a prompt that saying `text` may have made, whichever voice said it. */
export function spokenSentencesOf(text: string): string[] {
  const splitter = new SentenceSplitter();
  const sentences = [...splitter.push(text), ...splitter.flush()];
  const readers = [normaliseText, (written: string) => written];
  const pieces = sentences.flatMap((sentence) => readers.flatMap((reader) => cutToPieces(sentence, reader)));
  return [...new Set(pieces.map((piece) => piece.text.trim()))].filter((piece) => piece !== '');
}
