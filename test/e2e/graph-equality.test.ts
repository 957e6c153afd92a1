/**
 * The rewritten graphs against the shipped ones, on speech that we synthesised ourselves. `npm run bench -- equality`
 * does it on human speech.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadFlite } from '../../engine/models/flite.ts';
import type { Asr, Recognition } from '../../engine/models/model.ts';
import { loadMoonshine } from '../../engine/models/moonshine.ts';
import { speakWhole } from '../../engine/models/speak-whole.ts';
import { Resampler } from '../../src/audio/resample.ts';
import { readWav } from '../../src/audio/wav.ts';
import { TALK_LINES, TALK_VOICE } from '../../src/cli/talk-lines.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { cutAtSilence } from '../../src/simulator/conversation.ts';
import { normaliseText } from '../../src/speech/normalise.ts';
import { PHONE_SENTENCES } from '../bench/phone-sentences.ts';
import { countEdits, type Edits, sumEdits, wordErrorRate } from '../bench/wer/align.ts';
import { normaliseWords } from '../bench/wer/normalise.ts';
import { throughPhone } from '../bench/whole-recordings.ts';
import { TEST_CACHE_DIR } from '../engine/settings.ts';
import { finish, joined, speech } from '../engine/speech.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';

const RATE_HZ = 16_000;
const TEXTS = JSON.parse(readFileSync(packagePath('fixtures', 'audio', 'texts.json'), 'utf8')) as Record<
  string,
  string[]
>;

let rewritten: Asr;
let inOneRun: Asr;
let shipped: Asr;

async function load(graphs: 'rewritten' | 'shipped', runTokens: number): Promise<Asr> {
  const device = { provider: 'cpu' } as const;
  const { asr, warning } = await loadMoonshine({
    graphs,
    runTokens,
    device,
    threads: 1,
    cacheDir: TEST_CACHE_DIR,
    progress: () => undefined,
  });
  expect(warning).toBeNull();
  return asr;
}

beforeAll(async () => {
  rewritten = await load('rewritten', 5);
  inOneRun = await load('rewritten', 512);
  shipped = await load('shipped', 1);
});

const transcribe = async (asr: Asr, samples: Int16Array, draft: readonly number[] = []) =>
  (await finish(asr.transcribe(samples, draft))).result;

/** The same without a draft, which several tests want of the same window: made once for each. */
const readings = new Map<Asr, Map<Int16Array, Promise<Recognition>>>();
function readingOf(asr: Asr, samples: Int16Array): Promise<Recognition> {
  const known = readings.get(asr) ?? new Map<Int16Array, Promise<Recognition>>();
  const reading = known.get(samples) ?? transcribe(asr, samples);
  readings.set(asr, known.set(samples, reading));
  return reading;
}

/** Windows that grow from each of many places, as partials do. */
function windows(): Int16Array[] {
  const found = [speech('short'), speech('long-speech').subarray(0, 8 * RATE_HZ)];
  for (const name of ['demo-caller', 'demo-agent', 'long-speech']) {
    const samples = speech(name);
    for (let from = 0; from + 4 * RATE_HZ <= samples.length; from += 3 * RATE_HZ) {
      for (const seconds of [1.2, 3.2]) found.push(samples.subarray(from, from + seconds * RATE_HZ));
    }
  }
  return found;
}

interface Sentence {
  readonly words: readonly string[];
  readonly samples: Int16Array;
}

/** Sentences for the phone in the clearest of our own voices, as a line carries them. */
async function sentences(): Promise<Sentence[]> {
  const tts = await loadFlite();
  const spoken: Sentence[] = [];
  for (const sentence of PHONE_SENTENCES) {
    const text = normaliseText(sentence);
    const { result } = await finish(speakWhole(tts, { text, voice: 'rms', speed: 1 }));
    const silence = new Int16Array(result.rateHz / 10);
    const line = new Resampler(result.rateHz, LINE_RATE_HZ).push(joined(silence, result.samples, silence));
    spoken.push({ words: normaliseWords(text), samples: throughPhone(line) });
  }
  return spoken;
}

/** Share of `windows` for which two ways of decoding say the same, token for token. */
async function agreement(
  stretches: readonly Int16Array[],
  one: (samples: Int16Array) => Promise<Recognition>,
  other: typeof one,
): Promise<number> {
  let equal = 0;
  for (const samples of stretches)
    if ((await one(samples)).tokens.join() === (await other(samples)).tokens.join()) equal++;
  return equal / stretches.length;
}

describe('the rewritten graphs', () => {
  const all = windows();
  const some = all.filter((_, index) => index % 4 === 0);
  const shorter = new Map(some.map((samples) => [samples, samples.subarray(0, samples.length * 0.8)]));
  const ours = (samples: Int16Array) => readingOf(rewritten, samples);
  const theirs = (samples: Int16Array) => readingOf(shipped, samples);

  it('say what the shipped ones say, token for token, for at least 85 % of windows that begin and end anywhere', async () => {
    expect(all.length).toBeGreaterThan(50);
    expect(await agreement(all, ours, theirs)).toBeGreaterThanOrEqual(0.85);
  });

  // Forty sentences, each on both kinds of graphs: more than a minute where others use the cores too.
  it('make as many word errors as the shipped ones on sentences', { timeout: 180_000 }, async () => {
    const edits: { ours: Edits[]; theirs: Edits[] } = { ours: [], theirs: [] };
    for (const { words, samples } of await sentences()) {
      edits.ours.push(countEdits(words, normaliseWords((await ours(samples)).text)));
      edits.theirs.push(countEdits(words, normaliseWords((await theirs(samples)).text)));
    }
    const [ourErrors, theirErrors] = [wordErrorRate(sumEdits(edits.ours)), wordErrorRate(sumEdits(edits.theirs))];
    expect(theirErrors).toBeLessThan(20);
    expect(Math.abs(ourErrors - theirErrors)).toBeLessThanOrEqual(1);
  });

  it('say it with drafts too, the hypotheses for shorter windows', async () => {
    const draftFor = async (samples: Int16Array) => (await ours(shorter.get(samples) ?? samples)).tokens;
    const withDraft = (asr: Asr) => async (samples: Int16Array) => transcribe(asr, samples, await draftFor(samples));
    expect(await agreement(some, withDraft(rewritten), withDraft(shipped))).toBeGreaterThanOrEqual(0.85);
  });

  it('are as sure of their tokens as the shipped ones', async () => {
    const differences: number[] = [];
    for (const samples of all) {
      const [one, other] = [await ours(samples), await theirs(samples)];
      if (one.tokens.join() !== other.tokens.join()) continue;
      for (const [index, logprob] of one.logprobs?.entries() ?? [])
        differences.push(Math.abs(Math.exp(logprob) - Math.exp(other.logprobs?.[index] ?? Number.NaN)));
    }
    expect(differences.length).toBeGreaterThan(100);
    expect(differences.reduce((sum, difference) => sum + difference, 0) / differences.length).toBeLessThan(0.02);
  });

  it('make as many word errors as the shipped ones on a whole recording', async () => {
    const reference = normaliseWords(TEXTS['long-speech']?.join(' ') ?? '');
    const rateOf = ({ text }: Recognition) => wordErrorRate(countEdits(reference, normaliseWords(text)));
    const spoken = speech('long-speech');
    expect(Math.abs(rateOf(await ours(spoken)) - rateOf(await theirs(spoken)))).toBeLessThanOrEqual(1.6);
  });

  it('give the same tokens in many short runs as in one long run', async () => {
    expect(await agreement(some, ours, (samples) => transcribe(inOneRun, samples))).toBe(1);
  });

  it('give the same tokens whether a draft is right, right at first, too long or wrong', async () => {
    const samples = speech('short');
    const { tokens } = await ours(samples);
    expect(tokens.length).toBeGreaterThan(6);
    const half = tokens.slice(0, 5);
    for (const draft of [tokens, half, [...half, 9999, 9998], [9999], [...tokens, 278, 278]]) {
      expect((await transcribe(rewritten, samples, draft)).tokens).toEqual(tokens);
    }
  });
});

describe('the demo', () => {
  /** Ms of silence before a sentence: voice detection cuts a little earlier or later than here. */
  const MARGINS_MS = [100];

  /** `line` as a phone line carries it, at `rateHz`, with `marginMs` of silence around it. */
  function onThePhone(line: Int16Array, rateHz: number, marginMs: number): Int16Array {
    const silence = new Int16Array((rateHz * marginMs) / 1000);
    return throughPhone(new Resampler(rateHz, LINE_RATE_HZ).push(joined(silence, line, silence)));
  }

  /** What either kind of graphs makes of `line`, in words that can be compared. */
  async function readings(line: Int16Array, rateHz: number): Promise<string[]> {
    const texts: string[] = [];
    for (const marginMs of MARGINS_MS) {
      for (const asr of [rewritten, shipped])
        texts.push((await transcribe(asr, onThePhone(line, rateHz, marginMs))).text);
    }
    return [...new Set(texts.map((text) => normaliseWords(text).join(' ')))];
  }

  it.each(['demo-caller', 'demo-agent'])(
    'says sentences in %s that are read right, word for word, on either graphs',
    async (name) => {
      const { rateHz, channels } = readWav(readFileSync(packagePath('fixtures', 'audio', `${name}.wav`)));
      const lines = cutAtSilence(channels[0] ?? new Int16Array(0), rateHz);
      expect(lines).toHaveLength(TEXTS[name]?.length ?? 0);
      for (const [index, line] of lines.entries()) {
        expect(await readings(line, rateHz)).toEqual([normaliseWords(TEXTS[name]?.[index] ?? '').join(' ')]);
      }
    },
  );

  it('has a caller who talks with the app in sentences that are read right, word for word, on either graphs', async () => {
    const tts = await loadFlite();
    for (const text of Object.values(TALK_LINES)) {
      const { result } = await finish(speakWhole(tts, { text, voice: TALK_VOICE, speed: 1 }));
      expect(await readings(result.samples, result.rateHz)).toEqual([normaliseWords(text).join(' ')]);
    }
  });
});
