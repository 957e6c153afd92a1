import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { GaussianNoise } from '../../engine/models/hibari/gaussian.ts';
import { HibariGraph } from '../../engine/models/hibari/graph.ts';
import { openHibari } from '../../engine/models/hibari/hibari.ts';
import { openPronunciation } from '../../engine/models/hibari/pronunciation.ts';
import { HOP_SAMPLES } from '../../engine/models/hibari/pulse-train.ts';
import { type Spectra, Vocoder } from '../../engine/models/hibari/vocoder.ts';
import { idsOf, readVocabulary } from '../../engine/models/hibari/voice-files.ts';
import { findInstalled } from '../../engine/models/installed.ts';
import { Lexicon } from '../../engine/models/lexicon.ts';
import type { Tts } from '../../engine/models/model.ts';
import { speakWhole } from '../../engine/models/speak-whole.ts';
import { measureLoudness, measureTruePeak, PHONE_LOUDNESS_LUFS } from '../../src/audio/loudness.ts';
import { PHONE_SENTENCES } from '../bench/phone-sentences.ts';
import { finish } from '../engine/speech.ts';
import { TEST_MODELS_DIR, whyNotRun } from '../helpers/installed-models.ts';

const NOT_RUN = whyNotRun('hibari');
const VOICE = 'hibari:heart';
/** See make_sound_cases.py. */
const LINES = 1000;
const WHOLE_LINES = 25;
const HEAD_PHONEMES = 8;
const PLACES = 24;
/** Some 10 s of work, on machines that have other work, too. */
const LONG = { timeout: 300_000 };
const STEP = 1 / 32_767;

function installed() {
  const [model] = findInstalled(TEST_MODELS_DIR, 'hibari');
  if (model === undefined) throw new Error('hibari is not there');
  return model;
}

async function open(): Promise<Tts> {
  const model = installed();
  const tts = await openHibari(model, await openPronunciation(model.folder, new Lexicon([])));
  if (tts === null) throw new Error('there is no voice');
  return tts;
}

/** All samples of a run, asked for `frames` at a time. */
function render(spectra: Spectra, noise: GaussianNoise | null, frames: number): Float64Array {
  const vocoder = new Vocoder(spectra, noise);
  const sound = new Float64Array(spectra.f0.length * HOP_SAMPLES);
  for (let at = 0; !vocoder.isDone; ) {
    const part = vocoder.next(frames);
    sound.set(part, at);
    at += part.length;
  }
  return sound;
}

/** The lines' phonemes with what the reference makes of them. */
function* readCases(): Generator<{ phonemes: string; length: number; at(place: number): number; whole: number[] }> {
  const read = (name: string) => gunzipSync(readFileSync(new URL(`../engine/models/hibari/${name}`, import.meta.url)));
  const lines = (JSON.parse(read('phoneme-cases-us.json.gz').toString('utf8')) as [string, string][])
    .map(([, phonemes]) => phonemes)
    .filter(({ length }) => length > 0 && length <= 400);
  const cases = read('sound-cases.bin.gz');
  const take = (count: number, from: number) =>
    Array.from({ length: count }, (_, i) => cases.readInt16LE(from + 2 * i) * STEP);
  let from = 0;
  for (const [index, line] of lines.slice(0, LINES).entries()) {
    const phonemes = index < WHOLE_LINES ? line : [...line].slice(0, HEAD_PHONEMES).join('');
    const length = cases.readUInt32LE(from);
    const samples = take(PLACES, from + 4);
    from += 4 + 2 * PLACES;
    const whole = index === 0 ? take(length, from) : [];
    from += 2 * whole.length;
    yield { phonemes, length, at: (place) => samples[place] ?? Number.NaN, whole };
  }
  if (from !== cases.length) throw new Error(`${cases.length - from} bytes are left over`);
}

describe.skipIf(NOT_RUN !== '')(`hibari${NOT_RUN}`, () => {
  it('makes the samples of the Python package of 1000 lines, within 1e-4 with the noise off', LONG, async () => {
    const { folder } = installed();
    const [graph, vocabulary] = await Promise.all([HibariGraph.open(`${folder}/hibari.onnx`), readVocabulary(folder)]);
    const wrong: string[] = [];
    let lines = 0;
    for (const { phonemes, length, at, whole } of readCases()) {
      const sound = render(await graph.run(idsOf(phonemes, vocabulary), 1), null, 64);
      const places = Array.from({ length: PLACES }, (_, i) => Math.floor((length * (2 * i + 1)) / (2 * PLACES)));
      const gaps = [
        ...places.map((place, i) => Math.abs((sound[place] as number) - at(i))),
        ...whole.map((value, i) => Math.abs((sound[i] as number) - value)),
      ];
      // The expected samples are rounded to 16 bits.
      const gap = gaps.reduce((most, each) => Math.max(most, each), 0) - STEP / 2;
      if (sound.length !== length || !(gap <= 1e-4)) wrong.push(`${phonemes}: ${gap}`);
      lines++;
    }
    expect([lines, wrong]).toEqual([LINES, []]);
  });

  it('pauses behind a clause by itself as long as inside of a line', async () => {
    const tts = await open();
    const { result } = await finish(speakWhole(tts, { text: 'Thank you for your patience,', voice: VOICE, speed: 1 }));
    const { samples, rateHz } = result;
    const lastAudible = samples.findLastIndex((sample) => Math.abs(sample) > 200);
    expect(((samples.length - lastAudible) / rateHz) * 1000).toBeCloseTo(240, -1);
  });

  it('gives a line the same samples each time, and another line other noise', async () => {
    const tts = await open();
    const say = async (text: string) =>
      (await finish(speakWhole(tts, { text, voice: VOICE, speed: 1 }))).result.samples;
    const first = await say('Thank you for calling.');
    expect(await say('Thank you for calling.')).toEqual(first);
    expect(await say('Thank you for calling!')).not.toEqual(first);
  });

  it('tells the beginning early, in order, and pauses between clauses as a reader does', async () => {
    const tts = await open();
    const text =
      'Thank you for calling the service department, which is open from nine to five, and please hold the line, ' +
      'because somebody will be with you shortly.';
    const told: number[] = [];
    const line = { text, voice: VOICE, speed: 1 };
    const { result, runs } = await finish(tts.speak(line, ({ samples }) => void told.push(...samples)));
    expect(runs).toBeGreaterThan(10);
    expect(told.length).toBeGreaterThan(10 * result.samples.length);
    const whole = (await finish(speakWhole(tts, line))).result.samples;
    expect(Int16Array.from([...told, ...result.samples])).toEqual(whole);
    expect(silences(whole, 100).every((ms) => ms >= 150 && ms <= 500)).toBe(true);
    expect(silences(whole, 150).length).toBeGreaterThanOrEqual(2);
  });

  it('says nothing where there is nothing to say', async () => {
    const tts = await open();
    for (const text of ['', '…', ' '])
      expect((await finish(speakWhole(tts, { text, voice: VOICE, speed: 1 }))).result.samples).toHaveLength(0);
  });

  it.each([0.25, 0.5, 2, 4])('speaks at %s times the speed', async (speed) => {
    const tts = await open();
    const say = async (at: number) =>
      (await finish(speakWhole(tts, { text: 'Please hold the line.', voice: VOICE, speed: at }))).result.samples.length;
    const ratio = (await say(1)) / (await say(speed));
    expect(ratio / speed).toBeGreaterThan(0.4);
    expect(ratio / speed).toBeLessThan(1.5);
  });

  it('is as loud as everything on the phone, and never too loud', async () => {
    const tts = await open();
    const parts: number[] = [];
    for (const text of PHONE_SENTENCES.slice(20, 32))
      parts.push(...(await finish(speakWhole(tts, { text, voice: VOICE, speed: 1 }))).result.samples);
    const sound = Int16Array.from(parts);
    expect(Math.abs(measureLoudness(sound, 24_000) - PHONE_LOUDNESS_LUFS)).toBeLessThan(1);
    expect(measureTruePeak(sound, 24_000)).toBeLessThan(-0.5);
  });
});

/** Lengths of stretches inside of `samples` at 24 kHz with nothing audible for at least `leastMs`. */
function silences(samples: Int16Array, leastMs: number): number[] {
  const lengths: number[] = [];
  let last = -1;
  for (const [at, sample] of samples.entries()) {
    if (Math.abs(sample) <= 200) continue;
    if (last >= 0 && (at - last) / 24 >= leastMs) lengths.push((at - last) / 24);
    last = at;
  }
  return lengths;
}
