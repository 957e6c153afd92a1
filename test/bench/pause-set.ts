/**
 * Human speech with pauses inside its phrases, as people make who think while they speak: the prompts of
 * `asterisk-core-sounds-en-wav` with room tone put in at word ends, over good and bad lines.
 */
import type { SpokenWord } from '../../engine/contract.ts';
import { gaussian, LINE_RATE_HZ, pinkNoise, uniform } from '../helpers/signals.ts';
import { type BadLine, overLine } from './bad-line.ts';
import { concatenate, loadPrompts, type Prompt } from './prompts.ts';
import { startEngineClient } from './start-engine-client.ts';
import { findWords } from './whole-recordings.ts';

/** Shorter prompts have no phrase that a pause could cut. */
const WORDS_MIN = 5;
/** The recogniser must take a prompt whole to say when its words end. */
const PROMPT_MAX_SECONDS = 20;
/** Words between two pauses, and how long a pause is: at least and at most. */
const WORDS_BETWEEN = [3, 7] as const;
const PAUSE_MS = [300, 1200] as const;
/** Between two prompts of a call. */
const REST_MS = [2000, 3000] as const;
const PROMPTS_PER_CALL = 6;
/** Room tone: pink noise of this RMS (0–1 of full scale), 66 dB below full scale. */
const ROOM_RMS = 0.0005;
/** The quietest place within this of a word's end is where a pause is put. */
const SEARCH_MS = 80;
const QUIET_MS = 10;
const SPEECH_ABOVE = 0.01;
const FULL_SCALE = 32_768;

/** What makes a recording hard to read. */
export interface Cause {
  readonly title: string;
  /** Whether pauses are put in; otherwise the prompts are as recorded. */
  readonly pauses: boolean;
  /** Every so-many-th prompt. */
  readonly every: number;
  /** Pink noise this far below the speech. */
  readonly snrDb?: number;
  readonly line?: BadLine;
}

/** The cause that the goal is set for. */
export const PAUSES = 'pauses of 300 to 1200 ms inside phrases';

/** The causes that are measured. */
export const CAUSES: readonly Cause[] = [
  { title: 'as recorded', pauses: false, every: 4 },
  { title: PAUSES, pauses: true, every: 1 },
  { title: 'pauses, noise at 20 dB', pauses: true, every: 4, snrDb: 20 },
  { title: 'pauses, noise at 15 dB', pauses: true, every: 4, snrDb: 15 },
  { title: 'pauses, noise at 10 dB', pauses: true, every: 4, snrDb: 10 },
  {
    title: 'pauses, 5 % of packets lost',
    pauses: true,
    every: 4,
    line: { title: '5 % lost', lossShare: 0.05, reorderShare: 0, burst: 1 },
  },
];

/** One call, 8 kHz, and its words. */
export interface PausedCall {
  readonly samples: Int16Array;
  readonly words: readonly string[];
}

/** A prompt and the samples at which words of it end, but for the last word. */
interface DividedPrompt extends Prompt {
  readonly wordEnds: readonly number[];
}

/** Finds where words end in every `every`-th prompt, by the recogniser's own word times; takes half a minute. */
export async function dividePrompts(every: number): Promise<DividedPrompt[]> {
  const prompts = loadPrompts()
    .filter(({ samples, words }) => words.length >= WORDS_MIN && samples.length <= PROMPT_MAX_SECONDS * LINE_RATE_HZ)
    .filter((_, index) => index % every === 0);
  const engine = await startEngineClient(1);
  const divided: DividedPrompt[] = [];
  for (const prompt of prompts) {
    const words = await findWords(engine, prompt.samples);
    divided.push({ ...prompt, wordEnds: words.slice(0, -1).map((word) => quietPlace(prompt.samples, word)) });
  }
  await engine.close();
  return divided;
}

/** The prompts as calls under `cause`; the same every time. */
export function pausedCalls(all: readonly DividedPrompt[], cause: Cause): PausedCall[] {
  const prompts = all.filter((_, index) => index % cause.every === 0);
  const random = uniform(11);
  const tone = pinkNoise(10, ROOM_RMS, gaussian(5));
  const between = ([least, most]: readonly [number, number]): number => least + random() * (most - least);
  const room = (bounds: readonly [number, number]): Int16Array =>
    tone.subarray(0, Math.round((between(bounds) * LINE_RATE_HZ) / 1000));
  const calls: PausedCall[] = [];
  for (let i = 0; i < prompts.length; i += PROMPTS_PER_CALL) {
    const chosen = prompts.slice(i, i + PROMPTS_PER_CALL);
    const parts = chosen.flatMap((prompt) => [
      room(REST_MS),
      ...(cause.pauses ? withPauses(prompt, { between, room }) : [prompt.samples]),
    ]);
    const samples = damage(concatenate([...parts, room(REST_MS)]), cause);
    calls.push({ samples, words: chosen.flatMap(({ words }) => words) });
  }
  return calls;
}

function withPauses(
  { samples, wordEnds }: DividedPrompt,
  {
    between,
    room,
  }: { between: (of: readonly [number, number]) => number; room: (of: readonly [number, number]) => Int16Array },
): Int16Array[] {
  const parts: Int16Array[] = [];
  let from = 0;
  let wordsLeft = Math.round(between(WORDS_BETWEEN));
  for (const end of wordEnds) {
    wordsLeft--;
    if (wordsLeft > 0 || end <= from) continue;
    parts.push(samples.subarray(from, end), room(PAUSE_MS));
    from = end;
    wordsLeft = Math.round(between(WORDS_BETWEEN));
  }
  return [...parts, samples.subarray(from)];
}

/** The quietest 10 ms near the word's end. */
function quietPlace(samples: Int16Array, { endMs }: SpokenWord): number {
  const step = (QUIET_MS * LINE_RATE_HZ) / 1000;
  const around = (SEARCH_MS * LINE_RATE_HZ) / 1000;
  const end = Math.round((endMs * LINE_RATE_HZ) / 1000);
  let best = { at: Math.min(end, samples.length), energy: Number.POSITIVE_INFINITY };
  for (let at = Math.max(end - around, step); at <= Math.min(end + around, samples.length); at += step / 2) {
    const energy = samples.subarray(at - step, at).reduce((sum, sample) => sum + sample * sample, 0);
    if (energy < best.energy) best = { at: at - step / 2, energy };
  }
  return best.at;
}

function damage(samples: Int16Array, { snrDb, line }: Cause): Int16Array {
  const noisy = snrDb === undefined ? samples : withNoise(samples, snrDb);
  return line === undefined ? noisy : overLine(noisy, line);
}

function withNoise(samples: Int16Array, snrDb: number): Int16Array {
  const loud = samples.filter((sample) => Math.abs(sample) > SPEECH_ABOVE * FULL_SCALE);
  const speechRms = Math.sqrt(loud.reduce((sum, sample) => sum + sample * sample, 0) / loud.length) / FULL_SCALE;
  const noise = pinkNoise(Math.ceil(samples.length / LINE_RATE_HZ), speechRms * 10 ** (-snrDb / 20), gaussian(9));
  return samples.map((sample, index) => Math.max(-FULL_SCALE, Math.min(FULL_SCALE - 1, sample + (noise[index] ?? 0))));
}
