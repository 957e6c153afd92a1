import { splitWords } from '../../transcription/words.ts';

/** Words and phrases by which a listener says "go on" (English; without case and punctuation). */
const BACKCHANNELS: readonly (readonly string[])[] = [
  ...'mm mmm mhm mhmm hm hmm mmhm mmhmm mmhmmm uhhuh uhuh huh ah aha oh uh um er'.split(' '),
  ...'yeah yea yep yup yes ok okay right sure alright exactly absolutely definitely indeed true correct'.split(' '),
  ...'good great perfect fine cool nice gotcha understood really wow thanks'.split(' '),
  ...['i see', 'i know', 'got it', 'go on', 'go ahead', 'of course', 'all right', 'thank you', 'thats right'],
  ...['sounds good', 'makes sense', 'that makes sense', 'for sure', 'uh huh', 'mm hm'],
].map((phrase) => phrase.split(' '));
const LONGEST = Math.max(...BACKCHANNELS.map(({ length }) => length));
const KNOWN = new Set(BACKCHANNELS.map((words) => words.join(' ')));
/** Their beginnings, while the rest of the phrase is not recognised yet. */
const BEGINNINGS = new Set(
  BACKCHANNELS.flatMap((words) => words.slice(1).map((_, index) => words.slice(0, index + 1).join(' '))),
);
/** What a recogniser writes for a hum: "mum", "mhem", "hun". */
const HUM = /^[aeiu]?(?:[mn]+$|[mn]*(?:h+[aeiu]*|[aeiu]+)[mn]+$)/;

/** What of a text is said, beside the words of a listener who agrees. */
export interface SaidWords {
  /** All words. */
  readonly words: number;
  /** Those that are meant to be an answer or an interruption. */
  readonly meant: number;
}

/** Counts the words of what a caller says into our speech: "mm-hm, I see" has none that are meant. */
export function saidWords(text: string): SaidWords {
  const keys = splitWords(text).map(({ key }) => key);
  let meant = 0;
  for (let at = 0; at < keys.length; ) {
    const known = knownLength(keys, at);
    meant += known === 0 ? 1 : 0;
    at += Math.max(known, 1);
  }
  return { words: keys.length, meant };
}

/** Whether a text has words, and all of them say "go on". */
export function isBackchannel(text: string): boolean {
  const { words, meant } = saidWords(text);
  return words > 0 && meant === 0;
}

function knownLength(keys: readonly string[], at: number): number {
  for (let length = Math.min(LONGEST, keys.length - at); length > 0; length--)
    if (KNOWN.has(keys.slice(at, at + length).join(' '))) return length;
  if (BEGINNINGS.has(keys.slice(at).join(' '))) return keys.length - at;
  return HUM.test(keys[at] ?? '') ? 1 : 0;
}
