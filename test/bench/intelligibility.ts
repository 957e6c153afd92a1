/**
 * How well what Trunkline says is understood over the phone, by its own recogniser: each voice says the same sentences,
 * through µ-law.
 */
import { Resampler } from '../../src/audio/resample.ts';
import type { EngineClient } from '../../src/engine-client/engine-client.ts';
import { MULAW_8K, msToSamples, samplesToMs } from '../../src/foundation/units.ts';
import { normaliseText } from '../../src/speech/normalise.ts';
import { PHONE_SENTENCES } from './phone-sentences.ts';
import { concatenate } from './prompts.ts';
import { figure, type Report } from './report.ts';
import { startEngineClient } from './start-engine-client.ts';
import { countEdits, type Edits, sumEdits, wordErrorRate } from './wer/align.ts';
import { normaliseWords } from './wer/normalise.ts';
import { throughPhone } from './whole-recordings.ts';

/** Silence before and after, as the Twilio path keeps it around speech. */
const ROLL_MS = 100;
const NOBODY_WAITS_MS = 600_000;

interface VoiceResult {
  readonly voice: string;
  readonly edits: Edits;
  readonly faultless: number;
  readonly soundMs: number;
  readonly runMs: number;
}

/** Runs the benchmark with every `every`-th sentence. */
export async function benchIntelligibility(options: { readonly every: number }): Promise<Report> {
  const sentences = PHONE_SENTENCES.filter((_, index) => index % options.every === 0);
  const engineClient = await startEngineClient(1);
  const results: VoiceResult[] = [];
  for (const { name, language } of engineClient.voices) {
    if (!language.startsWith('en')) continue;
    results.push(await tryVoice(engineClient, name, sentences));
    process.stderr.write(`${name}: WER ${figure(wordErrorRate(results.at(-1)?.edits ?? NO_EDITS), 1)} %\n`);
  }
  const model = engineClient.status.models;
  await engineClient.close();
  return report(results, sentences.length, `${model?.tts} heard by ${model?.asr}`);
}

const NO_EDITS: Edits = { substitutions: 0, deletions: 0, insertions: 0, words: 0 };

async function tryVoice(engineClient: EngineClient, voice: string, sentences: readonly string[]): Promise<VoiceResult> {
  const edits: Edits[] = [];
  let soundMs = 0;
  let runMs = 0;
  for (const sentence of sentences) {
    const text = normaliseText(sentence);
    const speech = await engineClient.speak({ text, voice, speed: 1, urgency: 'batch', dueInMs: NOBODY_WAITS_MS });
    soundMs += samplesToMs(speech.samples.length, speech.rateHz);
    runMs += speech.cost.runMs;
    const samples = throughPhone(onTheLine(speech.samples, speech.rateHz));
    const { text: heard } = await engineClient.transcribe({
      samples,
      urgency: 'batch',
      dueInMs: NOBODY_WAITS_MS,
      draft: [],
    });
    edits.push(fewestEdits(normaliseWords(text), heard));
  }
  const faultless = edits.filter((each) => wordErrorRate(each) === 0).length;
  return { voice, edits: sumEdits(edits), faultless, soundMs, runMs };
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
    name: 'intelligibility',
    about:
      `${sentences} sentences for the phone (test/bench/phone-sentences.ts), written out, spoken by each voice, ` +
      'through 8 kHz µ-law and recognised whole: ' +
      `${what}. It says what this recogniser understands, not what people do; compare the voices.`,
    tables: [
      {
        title: 'Voices',
        heads: [
          'voice',
          'words',
          'WER, %',
          'substituted',
          'left out',
          'put in',
          'sentences without a fault',
          'sound, s',
          'engine ms per s of sound',
        ],
        rows: results.map(({ voice, edits, faultless, soundMs, runMs }) => [
          voice,
          edits.words,
          figure(wordErrorRate(edits), 1),
          edits.substitutions,
          edits.deletions,
          edits.insertions,
          faultless,
          figure(soundMs / 1000),
          figure((1000 * runMs) / soundMs, 1),
        ]),
      },
    ],
    goals: [],
  };
}
