import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Asr, ReadingOptions } from '../../../engine/models/model.ts';
import { Frontend } from '../../../engine/models/moonshine-streaming/frontend.ts';
import { readStreamingFolder } from '../../../engine/models/moonshine-streaming/layout.ts';
import { loadMoonshineStreaming, openStreamingParts } from '../../../engine/models/moonshine-streaming/load.ts';
import { runThrough } from '../../../engine/scheduler.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { STREAMING } from '../../engine/models/moonshine-streaming/options.ts';
import { finish } from '../../engine/speech.ts';
import { arithmeticClip } from './arithmetic-clip.ts';

/** What transformers makes of a clip (engine/export/moonshine-streaming/fixture.py). */
interface Case {
  readonly seed: number;
  readonly samples: number;
  readonly frames: number;
  readonly tokens: readonly number[];
  /** Frames whose features and memory, and tokens behind whose beginning the logits are in values.f32. */
  readonly rows: readonly number[];
  readonly positions: readonly number[];
}

const FIXTURES = packagePath('fixtures', 'models', 'moonshine-streaming');
const CASES = JSON.parse(readFileSync(`${FIXTURES}/cases.json`, 'utf8')) as readonly Case[];
const SECONDS_MAX_ORT = 10;

/** 400 ms, as calls read utterances. Clips of more than 10 s are pushed in steps of 2 s, which have several blocks. */
const STEP_SAMPLES = 6400;
const LONG_STEP_SAMPLES = 32_000;
const LONG_SAMPLES = 160_000;

/** Whole front end as .onnx, and split as .ort; the table of positions of the second is cut. */
const LAYOUTS = [
  { name: 'onnx', graphs: 'rewritten', cases: CASES },
  { name: 'onnx', graphs: 'shipped', cases: CASES },
  {
    name: 'ort-split',
    graphs: 'rewritten',
    cases: CASES.filter(({ samples }) => samples <= SECONDS_MAX_ORT * 16_000),
  },
] as const;

async function load({ name, graphs }: (typeof LAYOUTS)[number]): Promise<Asr> {
  const { asr, warning } = await loadMoonshineStreaming(`${FIXTURES}/${name}`, { ...STREAMING, graphs });
  expect(warning).toBeNull();
  return asr;
}

const clipOf = ({ seed, samples }: Case): Int16Array => arithmeticClip(seed, samples);

async function read(asr: Asr, samples: Int16Array, draft: readonly number[] = [], options: ReadingOptions = {}) {
  return (await finish(asr.transcribe(samples, draft, options))).result;
}

describe('the cases', () => {
  it('are at least 20 clips of 0.4 to 30 s with at least 8 distinct tokens', () => {
    expect(CASES.length).toBeGreaterThanOrEqual(20);
    expect(Math.min(...CASES.map(({ samples }) => samples))).toBe(6400);
    expect(Math.max(...CASES.map(({ samples }) => samples))).toBe(480_000);
    for (const { tokens } of CASES) expect(new Set(tokens).size).toBeGreaterThanOrEqual(Math.min(8, tokens.length));
  });
});

describe.each(LAYOUTS)('Moonshine streaming ($name, $graphs) against transformers', (layout) => {
  const { cases } = layout;
  let asr: Asr;

  beforeAll(async () => {
    asr = await load(layout);
  });

  it.each(cases)('writes the same tokens: $samples samples', async (one) => {
    expect((await read(asr, clipOf(one))).tokens).toEqual(one.tokens);
  });

  /** All clips on one kind of graphs; on the others the short ones show it as well. */
  const pushed = layout === LAYOUTS[0] ? cases : cases.filter(({ samples }) => samples <= SECONDS_MAX_ORT * 8000);

  it.each(pushed)('says the same when pushed in steps: $samples samples', async (one) => {
    const clip = clipOf(one);
    const stream = one.seed;
    let draft: readonly number[] = [];
    const step = clip.length > LONG_SAMPLES ? LONG_STEP_SAMPLES : STEP_SAMPLES;
    for (let length = step; length < clip.length; length += step)
      ({ tokens: draft } = await read(asr, clip.subarray(0, length), draft, { stream }));
    const last = await read(asr, clip, draft, { stream });
    expect(last.tokens).toEqual(one.tokens);
    expect(last).toEqual(await read(asr, clip, draft, { stream: -stream }));
  });

  it('verifies a draft in one run, and goes on behind what is wrong in it', async () => {
    for (const one of cases.slice(4, 12)) {
      const clip = clipOf(one);
      const { runs: plain } = await finish(asr.transcribe(clip, []));
      const { result, runs } = await finish(asr.transcribe(clip, one.tokens));
      expect(result.tokens).toEqual(one.tokens);
      expect(runs).toBeLessThanOrEqual(plain - one.tokens.length + 1);
      const wrong = one.tokens.with(3, (one.tokens[3] ?? 0) + 1);
      expect((await read(asr, clip, wrong)).tokens).toEqual(one.tokens);
      expect((await read(asr, clip, [...one.tokens, 7, 7, 7])).tokens).toEqual(one.tokens);
    }
  });
});

describe.each(LAYOUTS)('the graphs ($name, $graphs) against transformers', ({ name, graphs, cases }) => {
  it('give the same features, memory and logits', async () => {
    const path = `${FIXTURES}/${name}`;
    const folder = await readStreamingFolder(path);
    const frontend = await Frontend.open(folder, STREAMING);
    const { hearing, decoder } = await openStreamingParts(folder, { ...STREAMING, graphs }, path);
    let values = valuesFile();
    for (const one of CASES) {
      const expected = takeValues(values, one, folder.config.vocabularySize);
      values = expected.rest;
      if (!cases.includes(one)) continue;
      const sound = Float32Array.from(clipOf(one), (sample) => sample / 32_768);
      const { features } = await frontend.run(sound, frontend.start);
      expect(features.dims[1]).toBe(one.frames);
      expect(difference(features.data as Float32Array, expected.features, one.rows)).toBeLessThan(1e-4);
      const speech = await runThrough(hearing.hear(clipOf(one), undefined));
      expect(speech?.keys.dims[3]).toBe(one.frames);
      if (speech === null) continue;
      const logits = await decoder.begin(speech).add([folder.config.startToken, ...one.tokens]);
      expect(difference(logits, expected.logits, one.positions)).toBeLessThan(1e-3);
    }
    expect(values).toHaveLength(0);
  });
});

function valuesFile(): Float32Array {
  return new Float32Array(new Uint8Array(readFileSync(`${FIXTURES}/values.f32`)).buffer);
}

const FEATURE_WIDTH = 16;
const MEMORY_WIDTH = 24;

/** Features, memory and logits of one case, and what is left behind them. */
function takeValues(values: Float32Array, { rows, positions }: Case, vocabularySize: number) {
  const memoryAt = rows.length * FEATURE_WIDTH;
  const logitsAt = memoryAt + rows.length * MEMORY_WIDTH;
  const end = logitsAt + positions.length * vocabularySize;
  return { features: values.subarray(0, memoryAt), logits: values.subarray(logitsAt, end), rest: values.subarray(end) };
}

/** The greatest difference between some rows and those that are expected. */
function difference(all: Float32Array, expected: Float32Array, rows: readonly number[]): number {
  const width = expected.length / rows.length;
  return expected.reduce((most, value, index) => {
    const at = (rows[Math.floor(index / width)] ?? 0) * width + (index % width);
    return Math.max(most, Math.abs((all[at] ?? Number.NaN) - value));
  }, 0);
}
