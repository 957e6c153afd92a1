/**
 * How well what Trunkline says is understood over the phone, by its own recogniser, and what it costs: each voice says
 * the same sentences, through µ-law.
 */
import { readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENGINE_RATE_HZ, type VoiceInfo } from '../../engine/contract.ts';
import { measureLoudness, measureTruePeak } from '../../src/audio/loudness.ts';
import { Resampler } from '../../src/audio/resample.ts';
import { writeWav } from '../../src/audio/wav.ts';
import type { ManagedEngine } from '../../src/engine-client/managed-engine.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { FRAME_MS, MULAW_8K, msToSamples, samplesToMs } from '../../src/foundation/units.ts';
import { normaliseText } from '../../src/speech/normalise.ts';
import { TEST_MODELS_DIR } from '../helpers/installed-models.ts';
import { PHONE_SENTENCES } from './phone-sentences.ts';
import { concatenate } from './prompts.ts';
import { figure, quantile, type Report } from './report.ts';
import { startEngineClient } from './start-engine-client.ts';
import { countEdits, type Edits, sumEdits, wordErrorRate } from './wer/align.ts';
import { normaliseWords } from './wer/normalise.ts';
import { throughPhone } from './whole-recordings.ts';

/** Silence before and after, as the Twilio path keeps it around speech. */
const ROLL_MS = 100;
const NOBODY_WAITS_MS = 600_000;
/** Sentences that are made before anything is measured. */
const WARM_UPS = 3;
const FILES_PER_VOICE = 5;

interface VoiceResult {
  readonly voice: string;
  readonly edits: Edits;
  readonly faultless: number;
  readonly soundMs: number;
  readonly cpuMs: number;
  readonly firstFrameMs: number;
  readonly memoryMb: number;
  readonly lufs: number;
  readonly peakDb: number;
}

/**
 * Runs the benchmark with every `every`-th sentence, each voice in an engine of its own. Installed models are those of
 * TRUNKLINE_TEST_MODELS; `af_heart` stands for all voices of
 * Kokoro.
 */
export async function benchVoices(options: { readonly every: number; readonly writesFiles: boolean }): Promise<Report> {
  const sentences = PHONE_SENTENCES.filter((_, index) => index % options.every === 0);
  const folder = options.writesFiles ? await mkdtemp(join(tmpdir(), 'trunkline-voices-')) : null;
  const environment = { MODELS_DIR: TEST_MODELS_DIR || 'none' };
  const first = await startEngineClient(1, environment);
  const voices = first.voices.filter(isCompared).map(({ name }) => name);
  const model = first.status.models;
  await first.close();
  const results: VoiceResult[] = [];
  for (const voice of voices) {
    const engineClient = await startEngineClient(1, environment);
    results.push(await tryVoice(engineClient, voice, { sentences, folder }));
    await engineClient.close();
    process.stderr.write(`${voice}: WER ${figure(wordErrorRate(results.at(-1)?.edits ?? NO_EDITS), 1)} %\n`);
  }
  if (folder !== null) process.stderr.write(`files: ${folder}\n`);
  return report(results, sentences.length, `${model?.tts} heard by ${model?.asr}`);
}

const NO_EDITS: Edits = { substitutions: 0, deletions: 0, insertions: 0, words: 0 };

function isCompared({ name, language }: VoiceInfo): boolean {
  if (name.startsWith('espeak:')) return name === 'espeak:en-us';
  return language.startsWith('en') && (!name.startsWith('kokoro:') || name === 'kokoro:af_heart');
}

interface Made {
  readonly samples: Int16Array;
  readonly rateHz: number;
  readonly firstFrameMs: number;
}

async function tryVoice(
  engineClient: ManagedEngine,
  voice: string,
  { sentences, folder }: { sentences: readonly string[]; folder: string | null },
): Promise<VoiceResult> {
  const [pid = 0] = engineClient.status.pids;
  for (const sentence of sentences.slice(-WARM_UPS)) await make(engineClient, voice, sentence);
  const fromMs = cpuMsOf(pid);
  const made: Made[] = [];
  for (const sentence of sentences) made.push(await make(engineClient, voice, sentence));
  const cpuMs = cpuMsOf(pid) - fromMs;
  const memoryMb = memoryMbOf(pid);
  const edits: Edits[] = [];
  for (const [index, { samples, rateHz }] of made.entries()) {
    const line = throughPhone(onTheLine(samples, rateHz));
    if (folder !== null && index < FILES_PER_VOICE)
      await writeFile(join(folder, `${voice.replace(':', '-')}-${index + 1}.wav`), writeWav([line], ENGINE_RATE_HZ));
    const heard = await engineClient.transcribe({
      samples: line,
      urgency: 'batch',
      dueInMs: NOBODY_WAITS_MS,
      draft: [],
    });
    edits.push(fewestEdits(normaliseWords(normaliseText(sentences[index] ?? '')), heard.text));
  }
  const rateHz = made[0]?.rateHz ?? MULAW_8K.rateHz;
  const all = concatenate(made.map(({ samples }) => samples));
  return {
    voice,
    edits: sumEdits(edits),
    faultless: edits.filter((each) => wordErrorRate(each) === 0).length,
    soundMs: samplesToMs(all.length, rateHz),
    cpuMs,
    firstFrameMs: quantile(
      made.map(({ firstFrameMs }) => firstFrameMs),
      0.5,
    ),
    memoryMb,
    lufs: measureLoudness(all, rateHz),
    peakDb: measureTruePeak(all, rateHz),
  };
}

/** A sentence as a call asks for it, and when its first 20 ms were there. */
async function make(engineClient: ManagedEngine, voice: string, sentence: string): Promise<Made> {
  const startMs = systemClock.nowMs();
  let firstFrameMs: number | null = null;
  const parts: Int16Array[] = [];
  const take = (samples: Int16Array, rateHz: number): void => {
    parts.push(samples);
    const gotMs = samplesToMs(
      parts.reduce((sum, part) => sum + part.length, 0),
      rateHz,
    );
    if (gotMs >= FRAME_MS) firstFrameMs ??= systemClock.nowMs() - startMs;
  };
  const { samples, rateHz } = await engineClient.speak({
    text: normaliseText(sentence),
    voice,
    speed: 1,
    urgency: 'speak',
    dueInMs: 0,
    onSound: take,
  });
  take(samples, rateHz);
  return { samples: concatenate(parts), rateHz, firstFrameMs: firstFrameMs ?? 0 };
}

/** CPU time of a process so far, with the programs that it ran to their end, in ms. Linux. */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return fields.slice(11, 15).reduce((ticks, field) => ticks + Number(field), 0) * 10;
}

/** Resident memory of a process, in MB. Linux. */
function memoryMbOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1000;
}

/** Digits that were heard may stand for a number or be read one by one: whichever is nearer to what was said. */
function fewestEdits(said: readonly string[], heard: string): Edits {
  const asNumbers = countEdits(said, normaliseWords(normaliseText(heard)));
  const asDigits = countEdits(said, normaliseWords(heard));
  return wordErrorRate(asDigits) < wordErrorRate(asNumbers) ? asDigits : asNumbers;
}

/** Speech at the rate of the telephone, with a little silence around it. */
function onTheLine(samples: Int16Array, rateHz: number): Int16Array {
  const resampler = new Resampler(rateHz, MULAW_8K.rateHz);
  const silence = new Int16Array(msToSamples(ROLL_MS, MULAW_8K.rateHz));
  return concatenate([silence, resampler.push(samples), resampler.flush(), silence]);
}

function report(results: readonly VoiceResult[], sentences: number, what: string): Report {
  return {
    name: 'voices',
    about:
      `${sentences} sentences for the phone (test/bench/phone-sentences.ts), written out, spoken by each voice in an ` +
      `engine of its own, through 8 kHz µ-law and recognised whole: ${what}. It says what this recogniser ` +
      'understands, not what people do; compare the voices. Memory is that of the engine with recogniser and voice; ' +
      'the first frame is 20 ms of sound at the gateway, from the request, p50.',
    tables: [
      {
        title: 'Voices',
        heads: [
          'voice',
          'words',
          'misunderstood, %',
          'sentences without a fault',
          'sound, s',
          'CPU s per s',
          'first frame, ms',
          'engine, MB',
          'loudness, LUFS',
          'true peak, dB',
        ],
        rows: results.map((result) => [
          result.voice,
          result.edits.words,
          figure(wordErrorRate(result.edits), 1),
          result.faultless,
          figure(result.soundMs / 1000),
          figure(result.cpuMs / result.soundMs, 3),
          figure(result.firstFrameMs, 0),
          figure(result.memoryMb, 0),
          figure(result.lufs, 1),
          figure(result.peakDb, 1),
        ]),
      },
    ],
    goals: goalsOf(results.find(({ voice }) => voice === 'hibari:heart')),
  };
}

function goalsOf(hibari: VoiceResult | undefined): Report['goals'] {
  if (hibari === undefined) return [];
  const cost = hibari.cpuMs / hibari.soundMs;
  return [
    { goal: 'hibari costs at most 0.02 CPU s per s', found: figure(cost, 3), met: cost <= 0.02 },
    {
      goal: 'its first frame is there within 60 ms (p50)',
      found: `${figure(hibari.firstFrameMs, 0)} ms`,
      met: hibari.firstFrameMs <= 60,
    },
  ];
}
