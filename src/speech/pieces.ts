/** Sentences too long for one go of the engine → pieces that are not. */
import { SPEAK_TEXT_MAX_CHARS } from '../../engine/contract.ts';

/** A piece that is longer is cut, so that its first sound does not wait for its last: about 20 s of speech. */
const PIECE_MAX_CHARS = 300;

/** `text` = as it was given, `spoken` = as it is to be read. The texts of all pieces together are the sentence. */
export interface Piece {
  readonly text: string;
  readonly spoken: string;
}

/**
 * Cuts `sentence` at spaces where it must be cut, so that no piece is longer than the engine takes once `readable` has
 * written it out.
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

/** Behind the last space before the middle; without one at the middle, though never inside a character. */
function cutPoint(text: string): number {
  const middle = text.length >> 1;
  const space = text.slice(1, middle).search(/\s\S*$/);
  if (space >= 0) return space + 2;
  return isLowSurrogate(text.charCodeAt(middle)) ? middle + 1 : middle;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
