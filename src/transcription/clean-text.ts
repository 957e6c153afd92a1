/**
 * Cleans the recogniser's text. Every text passes through here first: partials, finals and recordings alike.
 */
import { fixRepetitions } from './repetitions.ts';

/** Marks behind a word, up to the next space: a mark that a word begins with, as in ".NET", is the word's. */
const MARKS = /[,;:!?.](?:\s{0,2}[,;:!?.]){1,64}(?=\s|$)/gu;
/** Marks of which a sentence has one in a place. A full stop is another matter: three are an ellipsis. */
const REPEATED_MARK = /([,;:!?])(?:\s*\1)+/gu;
const TWO_STOPS = /(?<!\.\s?)\.\s?\.(?!\s?\.)/gu;
/** Commas behind which the sentence ends. A full stop before a comma stays: it may belong to an abbreviation. */
const COMMA_BEFORE_END = /(?:[,;]\s?){1,4}(?=[.!?])/gu;
/** The same where no spaces are written. */
const REPEATED_WIDE_MARK = /([，、；：！？。])\1+/gu;
const WIDE_COMMA_BEFORE_END = /[，、；]{1,4}(?=[。！？])/gu;

/** `text` as the recogniser gave it, without space around it, endless repetitions and doubled punctuation. */
export function cleanText(text: string): string {
  return singlePunctuation(fixRepetitions(text.trim()));
}

/**
 * `text` with one mark where the recogniser doubled it: half a second of speech, cut in a pause, is read as
 * "However,,". Words, their order and the spaces between them stay as they are, so that what partials agreed on stays
 * agreed.
 */
export function singlePunctuation(text: string): string {
  return text.replace(MARKS, tidy).replace(REPEATED_WIDE_MARK, '$1').replace(WIDE_COMMA_BEFORE_END, '');
}

function tidy(marks: string): string {
  return marks.replace(REPEATED_MARK, '$1').replace(COMMA_BEFORE_END, '').replace(TWO_STOPS, '.');
}
