/**
 * What hot words change: names that hardly anybody has, in sentences that our own voices say over the phone, with and
 * without a list of hot words; and sentences without any of them, which must stay as they are.
 */
import { loadInstalledVoices } from '../../engine/models/installed-voices.ts';
import type { Asr, Tts } from '../../engine/models/model.ts';
import { loadMoonshine } from '../../engine/models/moonshine.ts';
import { speakWhole } from '../../engine/models/speak-whole.ts';
import { runThrough } from '../../engine/scheduler.ts';
import { Resampler } from '../../src/audio/resample.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { MULAW_8K, msToSamples } from '../../src/foundation/units.ts';
import { normaliseText } from '../../src/speech/normalise.ts';
import { TEST_MODELS_DIR } from '../helpers/installed-models.ts';
import { NAME_SENTENCES, OTHER_HOT_WORDS } from './name-sentences.ts';
import { PHONE_SENTENCES } from './phone-sentences.ts';
import { concatenate } from './prompts.ts';
import { figure, type Report } from './report.ts';
import { countEdits, type Edits, rightWords, sumEdits, wordErrorRate } from './wer/align.ts';
import { normaliseWords } from './wer/normalise.ts';
import { throughPhone } from './whole-recordings.ts';

/** A human voice, where it is installed, and one of flite's. */
const VOICES = ['hibari:heart', 'rms'];
const ROLL_MS = 100;
const CACHE_DIR = packagePath('node_modules', '.cache', 'trunkline');
const HOT_WORDS = [...NAME_SENTENCES.map(({ name }) => name), ...OTHER_HOT_WORDS];

interface Spoken {
  readonly words: readonly string[];
  /** Null = none. */
  readonly name: string | null;
  readonly samples: Int16Array;
}

interface Reading {
  readonly text: string;
  readonly words: readonly string[];
  readonly cpuMs: number;
}

/** Runs the benchmark with every `every`-th sentence. */
export async function benchHotWords(options: { readonly every: number }): Promise<Report> {
  const progress = (text: string) => process.stderr.write(`${text}\n`);
  const { asr } = await loadMoonshine({
    device: { provider: 'cpu' },
    threads: 1,
    graphs: 'rewritten',
    cacheDir: CACHE_DIR,
    runTokens: 16,
    progress,
  });
  const { tts } = await loadInstalledVoices({
    settings: { modelsDir: TEST_MODELS_DIR, modelCacheDir: CACHE_DIR },
    lexicon: { phonemes: () => new Map() },
    progress,
  });
  const voices = VOICES.filter((voice) => tts.voices.some(({ name }) => name === voice));
  const sentences = [...NAME_SENTENCES, ...PHONE_SENTENCES.map((text) => ({ text, name: null }))];
  const spoken: Spoken[] = [];
  for (const voice of voices) {
    for (const [index, sentence] of sentences.entries())
      if (index % options.every === 0) spoken.push(await speak(tts, voice, sentence));
  }
  const plain = await readAll(asr, spoken, []);
  return report({ spoken, plain, biased: await readAll(asr, spoken, HOT_WORDS), voices });
}

async function speak(
  tts: Tts,
  voice: string,
  { text, name }: { readonly text: string; readonly name: string | null },
): Promise<Spoken> {
  const said = normaliseText(text);
  const { samples, rateHz } = await runThrough(speakWhole(tts, { text: said, voice, speed: 1 }));
  const resampler = new Resampler(rateHz, MULAW_8K.rateHz);
  const silence = new Int16Array(msToSamples(ROLL_MS, MULAW_8K.rateHz));
  const line = concatenate([silence, resampler.push(samples), resampler.flush(), silence]);
  return { words: normaliseWords(said), name, samples: throughPhone(line) };
}

async function readAll(asr: Asr, spoken: readonly Spoken[], hotWords: readonly string[]): Promise<Reading[]> {
  const readings: Reading[] = [];
  for (const { samples } of spoken) {
    const before = process.cpuUsage();
    const { text } = await runThrough(asr.transcribe(samples, [], { hotWords }));
    const { user, system } = process.cpuUsage(before);
    readings.push({ text, words: normaliseWords(normaliseText(text)), cpuMs: (user + system) / 1000 });
  }
  return readings;
}

interface Figures {
  readonly names: number;
  readonly rightNames: number;
  /** Of the other words of sentences with names, in %. */
  readonly wrongOthers: number;
  /** Of the sentences without names. */
  readonly edits: Edits;
  readonly cpuMs: number;
}

function figuresOf(spoken: readonly Spoken[], readings: readonly Reading[]): Figures {
  let [names, rightNames, others, wrong] = [0, 0, 0, 0];
  const edits: Edits[] = [];
  for (const [index, { words, name }] of spoken.entries()) {
    const heard = readings[index]?.words ?? [];
    if (name === null) {
      edits.push(countEdits(words, heard));
      continue;
    }
    const right = rightWords(words, heard);
    const at = words.indexOf(normaliseWords(name)[0] ?? '');
    names++;
    if (right[at]) rightNames++;
    others += right.length - 1;
    wrong += right.filter((isRight, word) => !isRight && word !== at).length;
  }
  const cpuMs = readings.reduce((sum, reading) => sum + reading.cpuMs, 0) / readings.length;
  return { names, rightNames, wrongOthers: (100 * wrong) / others, edits: sumEdits(edits), cpuMs };
}

interface Found {
  readonly spoken: readonly Spoken[];
  readonly plain: readonly Reading[];
  readonly biased: readonly Reading[];
  readonly voices: readonly string[];
}

function report({ spoken, plain, biased, voices }: Found): Report {
  const unnamed = spoken.flatMap(({ name }, index) => (name === null ? [index] : []));
  const changed = unnamed.filter((index) => plain[index]?.text !== biased[index]?.text).length;
  const row = (title: string, readings: readonly Reading[]) => {
    const { names, rightNames, wrongOthers, edits, cpuMs } = figuresOf(spoken, readings);
    const right = `${rightNames} of ${names}`;
    return [title, right, figure(wrongOthers, 1), figure(wordErrorRate(edits), 2), figure(cpuMs, 1)];
  };
  return {
    name: 'hot-words',
    about:
      `${spoken.length} sentences (test/bench/name-sentences.ts, phone-sentences.ts) by ${voices.join(' and ')}, ` +
      `through 8 kHz µ-law, recognised whole by Moonshine tiny; ${HOT_WORDS.length} hot words, of which a sentence ` +
      'has one or none.',
    tables: [
      {
        title: 'Names and other words',
        heads: [
          'hot words',
          'names right',
          'other words beside them wrong, %',
          'sentences without names, WER %',
          'CPU ms per sentence',
        ],
        rows: [row('none', plain), row(`${HOT_WORDS.length}`, biased)],
      },
    ],
    goals: [
      {
        goal: 'sentences without names stay as they are: at most 2 % change',
        found: `${changed} of ${unnamed.length} change`,
        met: changed <= unnamed.length * 0.02,
      },
    ],
  };
}
