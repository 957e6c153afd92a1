/**
 * Human phone speech with known text: the prompts of Debian's `asterisk-core-sounds-en-wav` and their published
 * transcripts. They are read where apt puts them and never copied.
 */
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { readWav } from '../../src/audio/wav.ts';
import { conversation } from '../../src/simulator/conversation.ts';
import { LINE_RATE_HZ, uniform } from '../helpers/signals.ts';
import { normaliseWords } from './wer/normalise.ts';

const SOUNDS = '/usr/share/asterisk/sounds/en_US_f_Allison';
const TRANSCRIPTS = '/usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz';
const WORDS_MIN = 3;

/** One prompt: 8 kHz mono samples and its text as words. */
export interface Prompt {
  readonly id: string;
  readonly samples: Int16Array;
  readonly words: readonly string[];
}

/** Prompts one after the other with pauses between them, as one call. */
export interface PromptCall {
  readonly samples: Int16Array;
  readonly words: readonly string[];
}

/** Whether the prompts are installed. */
export function hasPrompts(): boolean {
  return existsSync(SOUNDS) && existsSync(TRANSCRIPTS);
}

/**
 * All prompts of `wordsMin` words or more, three unless said otherwise.
 * @throws Error naming the packages to install when they are not there
 */
export function loadPrompts(wordsMin = WORDS_MIN): Prompt[] {
  if (!hasPrompts()) {
    throw new Error(
      'This benchmark listens to human prompts: apt-get install asterisk-core-sounds-en-wav asterisk-core-sounds-en',
    );
  }
  const lines = gunzipSync(readFileSync(TRANSCRIPTS)).toString('utf8').split('\n');
  return lines.flatMap((line) => readPrompt(line, wordsMin) ?? []);
}

function readPrompt(line: string, wordsMin: number): Prompt | null {
  const colon = line.indexOf(':');
  const text = line.slice(colon + 1).trim();
  if (colon < 0 || line.startsWith(';') || /^[[(]/.test(text)) return null;
  const id = line.slice(0, colon);
  const path = `${SOUNDS}/${id}.wav`;
  const words = normaliseWords(text);
  if (words.length < wordsMin || !existsSync(path)) return null;
  const wav = readWav(readFileSync(path));
  const samples = wav.channels[0];
  if (samples === undefined || wav.rateHz !== LINE_RATE_HZ) return null;
  return { id, samples, words };
}

interface CallShape {
  readonly promptsPerCall: number;
  /** Pause between two prompts: at least and at most, in ms. */
  readonly pauseMs: readonly [number, number];
}

/** Every prompt once, `promptsPerCall` to a call, with pauses of line silence that the same `seed` makes the same. */
export function promptCalls(prompts: readonly Prompt[], shape: CallShape, seed = 7): PromptCall[] {
  const random = uniform(seed);
  const pause = () => shape.pauseMs[0] + random() * (shape.pauseMs[1] - shape.pauseMs[0]);
  const calls: PromptCall[] = [];
  for (let i = 0; i < prompts.length; i += shape.promptsPerCall) {
    const chosen = prompts.slice(i, i + shape.promptsPerCall);
    const parts = chosen.flatMap((prompt) => [silence(pause()), prompt.samples]);
    calls.push({ samples: concatenate([...parts, silence(1500)]), words: chosen.flatMap((prompt) => prompt.words) });
  }
  return calls;
}

/** A call of `seconds` in which `speechShare` of the time is prompts, begun at a place of its own for each `seed`. */
export function promptConversation(
  prompts: readonly Prompt[],
  seconds: number,
  speechShare: number,
  seed: number,
): Int16Array {
  const utterances = prompts.map(({ samples }) => samples);
  return conversation(utterances, { seconds, rateHz: LINE_RATE_HZ, speechShare, random: uniform(seed) });
}

function silence(durationMs: number): Int16Array {
  return new Int16Array(Math.round((durationMs * LINE_RATE_HZ) / 1000));
}

/** The parts as one stretch. */
export function concatenate(parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
