/**
 * Sounds whose confidence is measured: English with known text over good and bad lines, other languages, and what is no
 * speech. Human speech comes from Debian's packages of prompts; it is read where apt puts it and never copied.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findEspeak } from '../../../engine/models/espeak.ts';
import { loadFlite } from '../../../engine/models/flite.ts';
import type { Tts } from '../../../engine/models/model.ts';
import { speakWhole } from '../../../engine/models/speak-whole.ts';
import { Resampler } from '../../../src/audio/resample.ts';
import { readWav } from '../../../src/audio/wav.ts';
import { normaliseText } from '../../../src/speech/normalise.ts';
import { finish } from '../../engine/speech.ts';
import { gaussian, LINE_RATE_HZ, nonSpeechSignals, pinkNoise, uniform } from '../../helpers/signals.ts';
import { overLine } from '../bad-line.ts';
import { PHONE_SENTENCES } from '../phone-sentences.ts';
import { concatenate, loadPrompts } from '../prompts.ts';
import { normaliseWords } from '../wer/normalise.ts';
import { FOREIGN_SENTENCES } from './foreign-sentences.ts';

const SOUNDS = '/usr/share/asterisk/sounds';
const MUSIC = '/usr/share/asterisk/moh';
const FULL_SCALE = 32_768;
/** Longer prompts are several finals on the phone. */
const PROMPT_MAX_S = 10;
/** What a cut takes away of both ends of a prompt. */
const CUT_S = 0.15;
const NOTHING_S = 60;

/** A sound, 8 kHz, as it goes over the line. */
export interface Sound {
  /** Which set it belongs to. */
  readonly set: string;
  /** Which prompt or recording it is; the same over all lines. */
  readonly source: number;
  /** The language that is spoken; null = none. */
  readonly language: string | null;
  readonly samples: Int16Array;
  /** What is said, as words to compare; null where that is of no use. */
  readonly words: readonly string[] | null;
}

/** English by humans, clean and over bad lines: every `every`-th prompt. */
export function humanEnglish(every: number): Sound[] {
  const prompts = loadPrompts(1).filter(
    ({ samples }, index) => index % every === 0 && samples.length <= PROMPT_MAX_S * LINE_RATE_HZ,
  );
  const ways: Readonly<Record<string, (samples: Int16Array, seed: number) => Int16Array>> = {
    clean: (samples) => samples,
    'noise 20 dB': (samples, seed) => withNoise(samples, 20, seed),
    'noise 15 dB': (samples, seed) => withNoise(samples, 15, seed),
    'noise 10 dB': (samples, seed) => withNoise(samples, 10, seed),
    '5 % lost': (samples) => overLine(samples, { title: '', lossShare: 0.05, reorderShare: 0, burst: 1 }),
    'cut at both ends': (samples) => samples.subarray(CUT_S * LINE_RATE_HZ, samples.length - CUT_S * LINE_RATE_HZ),
  };
  return Object.entries(ways).flatMap(([way, change]) =>
    prompts.map(({ samples, words }, index) => ({
      set: `human, ${way}`,
      source: index,
      language: 'en',
      samples: change(samples, index),
      words,
    })),
  );
}

/** English by our own voices and by those of espeak-ng. */
export async function syntheticEnglish(every: number): Promise<Sound[]> {
  const sentences = PHONE_SENTENCES.filter((_, index) => index % every === 0).map(normaliseText);
  const flite = await loadFlite();
  const espeak = await findEspeak();
  const voices = [
    ...['rms', 'slt', 'awb'].map((name) => ({ tts: flite, name })),
    ...(espeak === null ? [] : ['espeak:en-us', 'espeak:en-gb-scotland'].map((name) => ({ tts: espeak, name }))),
  ];
  const sounds: Sound[] = [];
  for (const { tts, name } of voices) {
    const set = name.startsWith('espeak') ? "espeak-ng's voices" : "flite's voices";
    for (const [source, text] of sentences.entries()) {
      const samples = await spoken(tts, name, text);
      sounds.push({ set, source, language: 'en', samples, words: normaliseWords(text) });
    }
  }
  return sounds;
}

/** Other languages by humans: every `every`-th prompt of the packages that are installed. */
export function humanForeign(every: number): Sound[] {
  const folders = existsSync(SOUNDS) ? readdirSync(SOUNDS).filter((name) => /^(es|fr|it|ru|de)_/.test(name)) : [];
  return folders.flatMap((folder) =>
    wavesIn(join(SOUNDS, folder))
      .filter((samples) => samples.length >= LINE_RATE_HZ / 2 && samples.length <= PROMPT_MAX_S * LINE_RATE_HZ)
      .filter((_, index) => index % every === 0)
      .map((samples, source) => ({
        set: `human, ${folder}`,
        source,
        language: folder.slice(0, 2),
        samples,
        words: null,
      })),
  );
}

function wavesIn(folder: string): Int16Array[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.wav') && !/beep|tone|silence|monkeys/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/silence|ha\/|wx\//.test(path))
    .toSorted()
    .map((path) => readWav(readFileSync(path)).channels[0] ?? new Int16Array(0));
}

/** Other languages by espeak-ng. */
export async function syntheticForeign(): Promise<Sound[]> {
  const espeak = await findEspeak();
  if (espeak === null) return [];
  const sounds: Sound[] = [];
  for (const [language, sentences] of Object.entries(FOREIGN_SENTENCES)) {
    const text = sentences.join(' ');
    const samples = await spoken(espeak, `espeak:${language}`, text);
    sounds.push({ set: `espeak-ng, ${language}`, source: 0, language, samples, words: null });
  }
  return sounds;
}

async function spoken(tts: Tts, voice: string, text: string): Promise<Int16Array> {
  const { result } = await finish(speakWhole(tts, { text, voice, speed: 1 }));
  const quiet = new Int16Array(LINE_RATE_HZ / 5);
  const resampler = new Resampler(result.rateHz, LINE_RATE_HZ);
  return concatenate([quiet, resampler.push(result.samples), resampler.flush(), quiet]);
}

/** What nobody says: signals, music, breath, and a room in which many talk at once. */
export function nothingSaid(talkers: readonly Sound[]): Sound[] {
  const nothing = (set: string, samples: Int16Array): Sound => ({
    set,
    source: 0,
    language: null,
    samples,
    words: null,
  });
  const music = existsSync(MUSIC) ? readdirSync(MUSIC).filter((name) => name.endsWith('.wav')) : [];
  return [
    ...Object.values(nonSpeechSignals(NOTHING_S)).map((samples) => nothing('signals', samples)),
    ...music.flatMap((name) => minutesOf(join(MUSIC, name)).map((samples) => nothing('music', samples))),
    nothing('breath', breath(NOTHING_S)),
    ...[4, 8, 16].map((count) => nothing(`babble of ${count}`, babble(talkers, count))),
  ];
}

function minutesOf(path: string): Int16Array[] {
  const samples = readWav(readFileSync(path)).channels[0] ?? new Int16Array(0);
  const length = NOTHING_S * LINE_RATE_HZ;
  return Array.from({ length: Math.ceil(samples.length / length) }, (_, index) =>
    samples.subarray(index * length, (index + 1) * length),
  );
}

/** Pink noise that swells and fades as breath does, with silence in between. */
function breath(seconds: number): Int16Array {
  return pinkNoise(seconds, 0.05, gaussian(21)).map((sample, index) => {
    const phase = (index / LINE_RATE_HZ) % 2.5;
    return phase < 0.9 ? sample * Math.sin((Math.PI * phase) / 0.9) : 0;
  });
}

/** So many people who speak at once without a pause, in whatever language, equally loud. */
function babble(talkers: readonly Sound[], count: number): Int16Array {
  const random = uniform(count);
  const mixed = new Float64Array(NOTHING_S * LINE_RATE_HZ);
  for (let talker = 0; talker < count; talker++) {
    let at = -Math.round(random() * 2 * LINE_RATE_HZ);
    while (at < mixed.length) {
      const { samples } = talkers[Math.floor(random() * talkers.length)] ?? { samples: new Int16Array(1) };
      const scale = 0.1 / Math.max(rmsOf(samples), 1e-4) / Math.sqrt(count);
      for (const [index, sample] of samples.entries())
        if (at + index >= 0 && at + index < mixed.length) mixed[at + index] = (mixed[at + index] ?? 0) + sample * scale;
      at += samples.length;
    }
  }
  return Int16Array.from(mixed, clip);
}

/** Pink noise so many dB below the loudness of the samples. */
function withNoise(samples: Int16Array, snrDb: number, seed: number): Int16Array {
  const noise = pinkNoise(
    Math.ceil(samples.length / LINE_RATE_HZ),
    rmsOf(samples) / 10 ** (snrDb / 20),
    gaussian(seed),
  );
  return samples.map((sample, index) => clip(sample + (noise[index] ?? 0)));
}

function rmsOf(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + (sample / FULL_SCALE) ** 2, 0) / Math.max(samples.length, 1));
}

function clip(value: number): number {
  return Math.max(-FULL_SCALE, Math.min(FULL_SCALE - 1, Math.round(value)));
}
