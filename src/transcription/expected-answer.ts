import { EXPECTED_WORD_MAX_CHARS, EXPECTED_WORDS_MAX, type ExpectedReading } from '../../engine/expected-reading.ts';
import type { Engine, TranscribeRequest, Transcript } from '../engine-client/engine.ts';
import { calibratedOf, confidenceOf } from './confidence.ts';
import { readAgain, sumCosts } from './second-look.ts';

/** What somebody is asked, as far as it helps to understand the answer. */
export interface ExpectedAnswer {
  /** Words and phrases that answers are made of. */
  readonly words: readonly string[];
  /** What a text means as an answer: texts that mean the same give the same. Null = it is none. */
  meaningOf(text: string): string | null;
}

/** A transcript, read as an answer. */
export interface ReadAnswer {
  readonly transcript: Transcript;
  /** How sure it is as an answer (0–1), in place of what its probabilities say; null = they do. */
  readonly sureness: number | null;
}

/** What is less sure is better asked again. */
export const ANSWER_SURE = 0.55;
/** What the recogniser is so sure of needs no other reading. */
const PLAIN_SURE = 0.9;
/**
 * How probable it is that something else was said than an answer, in the recogniser's logarithms below its own text,
 * and what these are worth: it is surer of what it makes of noise than it should be.
 */
const OTHER_BEHIND = 5;
const WORTH = 0.6;

/**
 * Reads speech, of which `transcript` is the recogniser's own reading, once more as an answer, unless that is one and
 * sure: "Peret" is "correct" where yes or no is asked. Of meanings that are about as probable none is taken.
 * @throws EngineError
 */
export async function understandAnswer(
  engine: Pick<Engine, 'transcribe'>,
  { request, transcript }: { readonly request: TranscribeRequest; readonly transcript: Transcript },
  answer: ExpectedAnswer,
): Promise<ReadAnswer> {
  const { logprobs } = calibratedOf(transcript);
  const own = answer.meaningOf(transcript.text);
  const isSure = own !== null && (confidenceOf(logprobs) ?? 0) >= PLAIN_SURE;
  if (isSure || transcript.looped || logprobs === null) return { transcript, sureness: null };
  const expectedWords = answer.words
    .filter(({ length }) => length <= EXPECTED_WORD_MAX_CHARS)
    .slice(0, EXPECTED_WORDS_MAX);
  const again = await engine.transcribe({ ...readAgain(request, transcript), draft: [], expectedWords });
  const cost = sumCosts(transcript.cost, again.cost);
  if (again.expectedReadings === undefined) return { transcript: { ...transcript, cost }, sureness: null };
  const best = likeliestOf(transcript.text, again.expectedReadings, answer);
  if (best !== null && best.sureness >= ANSWER_SURE && best.meaning !== own) {
    const { words: _others, ...known } = transcript;
    return { transcript: { ...known, text: best.text, cost }, sureness: best.sureness };
  }
  const sureness = best?.meaning === own ? best.sureness : 0;
  return { transcript: { ...transcript, cost }, sureness: own === null ? null : sureness };
}

interface Meant {
  readonly meaning: string;
  readonly text: string;
  readonly sureness: number;
}

/** The likeliest meaning of all readings; null = none of them means anything. */
function likeliestOf(own: string, readings: readonly ExpectedReading[], answer: ExpectedAnswer): Meant | null {
  const weights = new Map<string, { text: string; weight: number }>();
  let all = 0;
  for (const { text, behind } of [{ text: own, behind: 0 }, ...readings.filter((reading) => reading.text !== own)]) {
    const meaning = answer.meaningOf(text);
    const weight = Math.exp(-WORTH * (meaning === null && text === own ? OTHER_BEHIND : behind));
    all += weight;
    if (meaning === null) continue;
    const known = weights.get(meaning) ?? { text, weight: 0 };
    weights.set(meaning, { ...known, weight: known.weight + weight });
  }
  const [best] = [...weights].sort(([, a], [, b]) => b.weight - a.weight);
  if (best === undefined) return null;
  return { meaning: best[0], text: best[1].text, sureness: best[1].weight / all };
}
