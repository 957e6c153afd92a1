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
import { NAME_SENTENCES, OTHER_HOT_WORDS, UNSEEN_NAME_SENTENCES } from './name-sentences.ts';
import { PHONE_SENTENCES } from './phone-sentences.ts';
import { concatenate, hasPrompts } from './prompts.ts';
import { figure, type Report, type Table } from './report.ts';
import { loadSpeech } from './speech-set.ts';
import { countEdits, type Edits, rightWords, sumEdits, wordErrorRate } from './wer/align.ts';
import { normaliseWords } from './wer/normalise.ts';
import { throughPhone } from './whole-recordings.ts';

/** A human voice, where it is installed, and one of flite's. */
const VOICES = ['hibari:heart', 'rms'];
const ROLL_MS = 100;
const CACHE_DIR = packagePath('node_modules', '.cache', 'trunkline');
/** Each list holds the names of its sentences: an operator lists the customers he has. */
const SETS = [
  { title: 'Names that the bonuses were chosen by', sentences: NAME_SENTENCES },
  { title: 'Names written afterwards', sentences: UNSEEN_NAME_SENTENCES },
] as const;
const hotWordsOf = ({ sentences }: (typeof SETS)[number]) => [...sentences.map(({ name }) => name), ...OTHER_HOT_WORDS];

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
  const some = <T>(all: readonly T[]) => all.filter((_, index) => index % options.every === 0);
  const unnamed = await speakAll(tts, voices, some(PHONE_SENTENCES.map((text) => ({ text, name: null }))));
  const human = some(hasPrompts() ? (await loadSpeech()).prompts : []).map(({ words, samples }) => ({
    words,
    name: null,
    samples: throughPhone(samples),
  }));
  const readPlain = async (spoken: readonly Spoken[]): Promise<Plain> => ({
    spoken,
    plain: await readAll(asr, spoken, []),
  });
  const nameless = [await readPlain(unnamed), await readPlain(human)];
  const tables: Table[] = [];
  const others: Comparison[] = [];
  for (const set of SETS) {
    progress(set.title);
    const compare = async (read: Plain): Promise<Comparison> => ({
      ...read,
      biased: await readAll(asr, read.spoken, hotWordsOf(set)),
    });
    const named = await compare(await readPlain(await speakAll(tts, voices, some(set.sentences))));
    const without: Comparison[] = [];
    for (const read of nameless) without.push(await compare(read));
    for (const change of without.flatMap(changesOf)) progress(change);
    tables.push(namesTable(set.title, named), othersTable(without));
    others.push(...without);
  }
  return report({ tables, others, voices });
}

interface Sentence {
  readonly text: string;
  readonly name: string | null;
}

async function speakAll(tts: Tts, voices: readonly string[], sentences: readonly Sentence[]): Promise<Spoken[]> {
  const spoken: Spoken[] = [];
  for (const voice of voices) {
    for (const sentence of sentences) spoken.push(await speak(tts, voice, sentence));
  }
  return spoken;
}

async function speak(tts: Tts, voice: string, { text, name }: Sentence): Promise<Spoken> {
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

/** Speech, read without hot words. */
interface Plain {
  readonly spoken: readonly Spoken[];
  readonly plain: readonly Reading[];
}

/** The same speech, read without hot words and with them. */
interface Comparison extends Plain {
  readonly biased: readonly Reading[];
}

function namesTable(title: string, { spoken, plain, biased }: Comparison): Table {
  const row = (heading: string, readings: readonly Reading[]) => {
    const { rightNames, wrongOthers } = rightOf(spoken, readings);
    const cpuMs = readings.reduce((sum, reading) => sum + reading.cpuMs, 0) / readings.length;
    return [heading, `${rightNames} of ${spoken.length}`, figure(wrongOthers, 1), figure(cpuMs, 1)];
  };
  return {
    title,
    heads: ['hot words', 'names right', 'other words beside them wrong, %', 'CPU ms per sentence'],
    rows: [row('without', plain), row('with', biased)],
  };
}

function rightOf(spoken: readonly Spoken[], readings: readonly Reading[]): { rightNames: number; wrongOthers: number } {
  let [rightNames, others, wrong] = [0, 0, 0];
  for (const [index, { words, name }] of spoken.entries()) {
    const right = rightWords(words, readings[index]?.words ?? []);
    const at = words.indexOf(normaliseWords(name ?? '')[0] ?? '');
    if (right[at]) rightNames++;
    others += right.length - 1;
    wrong += right.filter((isRight, word) => !isRight && word !== at).length;
  }
  return { rightNames, wrongOthers: (100 * wrong) / others };
}

function othersTable(comparisons: readonly Comparison[]): Table {
  return {
    title: 'The same hot words, where nobody says one',
    heads: ['speech', 'words', 'WER without, %', 'with, %', 'texts that change'],
    rows: ['our voices', 'human prompts'].flatMap((heading, index) => {
      const comparison = comparisons[index];
      if (comparison === undefined || comparison.spoken.length === 0) return [];
      const { spoken, plain, biased } = comparison;
      const words = spoken.reduce((sum, each) => sum + each.words.length, 0);
      const [without, withThem] = [plain, biased].map((readings) =>
        sumEdits(spoken.map((each, at) => countEdits(each.words, readings[at]?.words ?? []))),
      ) as [Edits, Edits];
      const rates = [wordErrorRate(without), wordErrorRate(withThem)].map((rate) => figure(rate, 2));
      return [[heading, `${words}`, ...rates, `${changesOf(comparison).length} of ${spoken.length}`]];
    }),
  };
}

function changesOf({ plain, biased }: Comparison): string[] {
  return plain.flatMap(({ text }, index) => {
    const { text: other = '' } = biased[index] ?? {};
    return text === other ? [] : [`${text} → ${other}`];
  });
}

interface Found {
  readonly tables: readonly Table[];
  readonly others: readonly Comparison[];
  readonly voices: readonly string[];
}

function report({ tables, others, voices }: Found): Report {
  const changed = others.reduce((sum, each) => sum + changesOf(each).length, 0);
  const all = others.reduce((sum, each) => sum + each.spoken.length, 0);
  return {
    name: 'hot-words',
    about:
      `Sentences with names that hardly anybody has (test/bench/name-sentences.ts), by ${voices.join(' and ')}, ` +
      'through 8 kHz µ-law, recognised whole by Moonshine tiny, with a list of 80 hot words: the 40 names of the ' +
      'sentences, of which one has one, and 40 others, some of them common words (Will, May, Mark). Then sentences ' +
      '(phone-sentences.ts) and human prompts without the names.',
    tables: [...tables],
    goals: [
      {
        goal: 'what has no names stays as it is: at most 2 % change',
        found: `${changed} of ${all} change`,
        met: changed <= all * 0.02,
      },
    ],
  };
}
