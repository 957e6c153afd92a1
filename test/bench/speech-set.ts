/**
 * Speech with known text for benchmarks that can do without people: human prompts where they are installed, else
 * sentences that we speak ourselves.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadFlite } from '../../engine/models/flite.ts';
import { speakWhole } from '../../engine/models/speak-whole.ts';
import { normaliseText } from '../../src/speech/normalise.ts';
import { finish } from '../engine/speech.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { PHONE_SENTENCES } from './phone-sentences.ts';
import { hasPrompts, loadPrompts, type Prompt } from './prompts.ts';
import { normaliseWords } from './wer/normalise.ts';
import { throughPhone, toLineRate } from './whole-recordings.ts';

/** Longer prompts are left out: the recogniser cannot take them whole. */
const PROMPT_MAX_SECONDS = 20;
/** Sentences that are spoken as one, so that some are long. */
const SENTENCES_AT_ONCE = 3;
const VOICE = 'rms';

/** Stretches of speech of at most 20 s, and what they are, for the report. */
export interface SpeechSet {
  readonly about: string;
  readonly prompts: readonly Prompt[];
}

/** Human prompts, or synthetic speech where the packages are not installed. */
export async function loadSpeech(): Promise<SpeechSet> {
  if (!hasPrompts())
    return {
      about: `sentences for the phone (test/bench/phone-sentences.ts) in the voice ${VOICE}`,
      prompts: await speakSentences(),
    };
  const prompts = loadPrompts().filter(({ samples }) => samples.length <= PROMPT_MAX_SECONDS * LINE_RATE_HZ);
  return { about: "human prompts of Debian's asterisk-core-sounds-en-wav (one voice)", prompts };
}

async function speakSentences(): Promise<Prompt[]> {
  const tts = await loadFlite();
  const prompts: Prompt[] = [];
  for (let i = 0; i < PHONE_SENTENCES.length; i += SENTENCES_AT_ONCE) {
    const text = PHONE_SENTENCES.slice(i, i + SENTENCES_AT_ONCE)
      .map(normaliseText)
      .join(' ');
    const { samples, rateHz } = (await finish(speakWhole(tts, { text, voice: VOICE, speed: 1 }))).result;
    prompts.push({
      id: `sentences-${i}`,
      samples: toLineRate(samples, rateHz),
      words: normaliseWords(text),
    });
  }
  return prompts;
}

/** Files of raw 16-bit 16 kHz samples, removed by `remove`. */
export interface SampleFiles {
  /** Writes `samples`. @returns the file's path */
  write(samples: Int16Array): string;
  remove(): void;
}

/** A folder for them under the system's temporary one. */
export function sampleFiles(): SampleFiles {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-bench-samples-'));
  let count = 0;
  return {
    write(samples) {
      const path = join(folder, `${count++}.pcm`);
      writeFileSync(path, new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
      return path;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** 8 kHz speech as the recogniser hears it on the phone, in a file. */
export function phoneFile(files: SampleFiles, samples: Int16Array): string {
  return files.write(throughPhone(samples));
}
