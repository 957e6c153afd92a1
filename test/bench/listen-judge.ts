/** What sessions of one endpoint heard, as figures, and how far such figures lie apart where nothing differs. */
import { type HeardFinal, LISTEN_ENDPOINT_MS } from './listen-endpoints.ts';
import { mean, quantile } from './report.ts';
import { countEdits, sumEdits, wordErrorRate } from './wer/align.ts';
import { normaliseWords } from './wer/normalise.ts';

/** An utterance of a session whose protocol says where it ended, in ms of what is said in all sessions. */
export interface SpeechEnd {
  readonly endMs: number;
  readonly words: readonly string[];
}

/** One session: what was said by each voice, and what was heard. */
export interface HeardSession {
  readonly words: readonly (readonly string[])[];
  /** Times are ms of what is said in all sessions of this audio. */
  readonly finals: readonly HeardFinal[];
  /** Where the calls beside it heard speech end in the same audio. */
  readonly ends: readonly SpeechEnd[];
}

/** The figures of a group of sessions. */
export interface Figures {
  readonly finals: number;
  readonly werPercent: number;
  /** From the end of speech to the final, beyond the endpoint silence. */
  readonly p50Ms: number;
  readonly p95Ms: number;
}

export function figuresOf(sessions: readonly HeardSession[]): Figures {
  const edits = sessions.flatMap(({ words, finals }) =>
    words.map((spoken, voice) => {
      const texts = finals.filter((final) => final.voice === voice).map(({ text }) => text);
      return countEdits(spoken, normaliseWords(texts.join(' ')));
    }),
  );
  const lateMs = sessions.flatMap(({ finals, ends }) => finals.flatMap((final) => latenessOf(final, ends) ?? []));
  return {
    finals: sessions.reduce((sum, { finals }) => sum + finals.length, 0),
    werPercent: edits.length === 0 ? Number.NaN : wordErrorRate(sumEdits(edits)),
    p50Ms: quantile(lateMs, 0.5),
    p95Ms: quantile(lateMs, 0.95),
  };
}

/** Null = nobody knows. */
function latenessOf({ text, endMs, arrivedMs }: HeardFinal, ends: readonly SpeechEnd[]): number | null {
  const end = endMs ?? sameSpeech(text, arrivedMs, ends)?.endMs;
  return end === undefined ? null : arrivedMs - end - LISTEN_ENDPOINT_MS;
}

/** The utterance before `arrivedMs` whose words are most like `text`; of two such the later one. */
function sameSpeech(text: string, arrivedMs: number, ends: readonly SpeechEnd[]): SpeechEnd | undefined {
  const words = normaliseWords(text);
  const unlike = (end: SpeechEnd): number => wordErrorRate(countEdits(end.words, words));
  return ends
    .filter(({ endMs }) => endMs + LISTEN_ENDPOINT_MS / 2 < arrivedMs)
    .reverse()
    .sort((a, b) => unlike(a) - unlike(b))[0];
}

/** How far figures of the same endpoint and the same audio lie apart. */
export interface Noise {
  readonly werPercent: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** Less is no difference: a word in four hundred, one frame, and two. */
const NOISE_MIN: Noise = { werPercent: 0.25, p50Ms: 20, p95Ms: 40 };

/** Of groups that heard the same audio through the same endpoint. */
export function noiseOf(groups: readonly Figures[]): Noise {
  const range = (of: (figures: Figures) => number): number => Math.max(...groups.map(of)) - Math.min(...groups.map(of));
  return {
    werPercent: Math.max(
      range(({ werPercent }) => werPercent),
      NOISE_MIN.werPercent,
    ),
    p50Ms: Math.max(
      range(({ p50Ms }) => p50Ms),
      NOISE_MIN.p50Ms,
    ),
    p95Ms: Math.max(
      range(({ p95Ms }) => p95Ms),
      NOISE_MIN.p95Ms,
    ),
  };
}

/** The mean word error rate of `groups`, in percent. */
export function meanWer(groups: readonly Figures[]): number {
  return mean(groups.map(({ werPercent }) => werPercent));
}
