/** Cuts sentences that are too long for one job of the engine. */
import { SPEAK_TEXT_MAX_CHARS } from '../../engine/contract.ts';

/** Longer sentences are cut, so that their first sound does not wait for their last: about 20 s of speech. */
const PIECE_MAX_CHARS = 300;

/** `text` = as it was written, `spoken` = as it is read. The texts of all pieces together are the sentence. */
export interface Piece {
  readonly text: string;
  readonly spoken: string;
}

/**
 * Cuts `sentence` at spaces, if at all, so that no piece is longer than the engine takes after `readable` has written
 * it out.
 */
export function cutToPieces(sentence: string, readable: (text: string) => string): Piece[] {
  if (sentence.length <= PIECE_MAX_CHARS) {
    const spoken = readable(sentence).trim();
    if (spoken.length <= SPEAK_TEXT_MAX_CHARS || sentence.length < 2)
      return [{ text: sentence, spoken: spoken.slice(0, SPEAK_TEXT_MAX_CHARS) }];
  }
  const at = cutPoint(sentence);
  return [...cutToPieces(sentence.slice(0, at), readable), ...cutToPieces(sentence.slice(at), readable)];
}

/** After the last space before the middle; without a space at the middle, but never inside a character. */
function cutPoint(text: string): number {
  const middle = text.length >> 1;
  const space = text.slice(1, middle).search(/\s\S*$/);
  if (space >= 0) return space + 2;
  return isLowSurrogate(text.charCodeAt(middle)) ? middle + 1 : middle;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
