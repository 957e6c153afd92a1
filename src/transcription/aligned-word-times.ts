/** The recogniser's own word times, fitted to what voice detection says. */
import { ENGINE_RATE_HZ, type SpokenWord } from '../../engine/contract.ts';
import { samplesToMs } from '../foundation/units.ts';
import { wordConfidence } from './confidence.ts';
import type { TimedWord } from './estimated-word-times.ts';
import type { SpeechClip } from './speech-clips.ts';
import { NOT_SPOKEN, splitWords } from './words.ts';

/** A word this far outside of all speech was not found where it was said. */
const OUTSIDE_MAX_MS = 300;
/** No word is shorter: where many seem to be, the recogniser lost its place. */
const WORD_MIN_MS = 30;
const SHORT_WORDS_MAX_SHARE = 0.25;

/**
 * When each word of `text` was said, by the recogniser: `spoken` are its words with times in the clip. A word
 * does not begin in a pause and does not last into one. In order and without overlap.
 * @returns null when the times cannot be right, or when `text` is not the end of `spoken` (its beginning may have been
 * left out)
 */
export function alignWordTimes(text: string, spoken: readonly SpokenWord[], clip: SpeechClip): TimedWord[] | null {
  const words = splitWords(text);
  const first = firstOf(words, spoken);
  if (first === null || !isCredible(spoken, clip)) return null;
  const said = saidWith(words, spoken.slice(first));
  const starts = said.map((word) => intoSpeech(clip.speech, (word?.startMs ?? 0) + toMs(clip.from)));
  const speechEndMs = toMs(clip.speech.at(-1)?.to ?? clip.to);
  const lastEndMs = Math.min((spoken.at(-1)?.endMs ?? 0) + toMs(clip.from), speechEndMs);
  return words.map(({ text: word, spaced }, index) => {
    const startMs = Math.min(starts[index] ?? 0, speechEndMs);
    const nextMs = Math.min(starts[index + 1] ?? lastEndMs, speechEndMs);
    return {
      text: word,
      spaced,
      startMs: Math.round(startMs),
      endMs: Math.round(Math.max(pauseAfter(clip.speech, startMs, nextMs), startMs)),
      ...confidenceOfWord(said[index]),
    };
  });
}

/** The word of `spoken` that the first of `words` is, or null when the two differ before their end. */
function firstOf(words: readonly { readonly text: string }[], spoken: readonly SpokenWord[]): number | null {
  const said = lettersOf(words);
  for (let first = 0; first < spoken.length; first++) {
    if (lettersOf(spoken.slice(first)) === said) return first;
  }
  return null;
}

/** Without punctuation, which may have been cleaned in one of the two. */
function lettersOf(words: readonly { readonly text: string }[]): string {
  return words.map(({ text }) => text.replace(NOT_SPOKEN, '')).join('');
}

function confidenceOfWord(word: SpokenWord | undefined): Pick<TimedWord, 'confidence'> {
  return word?.probability === undefined ? {} : { confidence: wordConfidence(word.probability) };
}

/** Of each word that word of `spoken` in which its first letter lies. Both have the same letters. */
function saidWith(
  words: readonly { readonly text: string }[],
  spoken: readonly SpokenWord[],
): (SpokenWord | undefined)[] {
  let at = 0;
  let spokenTo = 0;
  let index = -1;
  return words.map((word) => {
    while (spokenTo <= at && index + 1 < spoken.length) spokenTo += lettersOf([spoken[++index] ?? { text: '' }]).length;
    at += lettersOf([word]).length;
    return spoken[index];
  });
}

function isCredible(spoken: readonly SpokenWord[], { from, speech }: SpeechClip): boolean {
  const earliestMs = toMs((speech[0]?.from ?? 0) - from) - OUTSIDE_MAX_MS;
  const latestMs = toMs((speech.at(-1)?.to ?? 0) - from) + OUTSIDE_MAX_MS;
  const isOutside = spoken.some(({ startMs }) => startMs < earliestMs || startMs > latestMs);
  const short = spoken.filter(({ startMs, endMs }) => endMs - startMs < WORD_MIN_MS);
  return !isOutside && short.length <= spoken.length * SHORT_WORDS_MAX_SHARE;
}

/** `timeMs`, or where speech goes on when that lies before it or in a pause. */
function intoSpeech(speech: SpeechClip['speech'], timeMs: number): number {
  const span = speech.find(({ to }) => timeMs < toMs(to));
  return span === undefined ? timeMs : Math.max(timeMs, toMs(span.from));
}

/** Where a word that began at `startMs` ends: at the next pause, or at `nextMs`. */
function pauseAfter(speech: SpeechClip['speech'], startMs: number, nextMs: number): number {
  const span = speech.find(({ to }) => toMs(to) > startMs);
  return span === undefined ? nextMs : Math.min(nextMs, toMs(span.to));
}

function toMs(samples: number): number {
  return samplesToMs(samples, ENGINE_RATE_HZ);
}
