import { describe, expect, it } from 'vitest';
import { namesInFolder } from '../../../engine/models/folder-names.ts';
import { loadModels } from '../../../engine/models/load-models.ts';
import { MODEL_TABLE } from '../../../engine/models/model-table.ts';
import { QwenFeatures } from '../../../engine/models/qwen3-asr/features.ts';
import { findPublishedLayout } from '../../../engine/models/qwen3-asr/published-layout.ts';
import { openPublished, type PublishedParts } from '../../../engine/models/qwen3-asr/published-load.ts';
import { StaticCacheDecoder } from '../../../engine/models/qwen3-asr/static-cache-decoder.ts';
import { openSession } from '../../../engine/onnx.ts';
import type { Tensor } from '../../../engine/onnxruntime.ts';
import { runThrough } from '../../../engine/scheduler.ts';
import { TONE } from '../../engine/settings.ts';
import {
  cases,
  differenceFrom,
  expectWritten,
  folderOf,
  type Reading,
  requestOf,
  saidOf,
  samplesOf,
} from './qwen3-asr-cases.ts';

const session = { device: { provider: 'cpu' }, threads: 1 } as const;

async function open(name: string, graphs: 'rewritten' | 'shipped'): Promise<PublishedParts> {
  const layout = findPublishedLayout(namesInFolder(folderOf(name)));
  if (layout === null) throw new Error(`${name} is in no published layout`);
  return openPublished(folderOf(name), layout, { ...session, graphs });
}

/** The parts of a folder, and what they hear of each clip. */
async function hear(name: string) {
  const parts = await open(name, 'rewritten');
  const features = new QwenFeatures(parts.config);
  const audio: Tensor[] = [];
  for (const samples of samplesOf) audio.push(await runThrough(parts.encoder.encode(features.compute(samples))));
  return { parts, audio };
}

describe.each([
  // Its embeddings have 16 bits, those of transformers 32.
  ['split', 0.02],
  ['static', 1e-3],
] as const)('Qwen3-ASR in the published layout of the folder %s', (name, tolerance) => {
  const heard = hear(name);

  it('hears what transformers hears, across the edge of 8 s too', async () => {
    const { parts, audio } = await heard;
    for (const [index, { tokens, encoded }] of cases.clips.entries()) {
      expect(audio[index]?.dims).toEqual([tokens, parts.config.hiddenSize]);
      expect(differenceFrom(encoded, audio[index]?.data as Float32Array, cases.encodedStep)).toBeLessThan(1e-4);
    }
  });

  it.each(['rewritten', 'shipped'] as const)('writes by %s graphs what transformers writes', async (graphs) => {
    const { audio } = await heard;
    const parts = await open(name, graphs);
    expect(parts.warning).toBeNull();
    const kinds = new Set<string>();
    for (const [index, { readings }] of cases.clips.entries())
      for (const reading of readings) {
        kinds.add(`${reading.draftIs} ${reading.language} ${reading.context}`);
        const request = requestOf(parts.prompts, audio[index] as Tensor, reading);
        expectWritten(await runThrough(parts.decoder.write(request)), reading, tolerance);
      }
    expect(kinds.size).toBeGreaterThanOrEqual(6);
  });

  it('lets urgent work in between its runs', async () => {
    const { parts, audio } = await heard;
    const [{ readings: [reading] = [] } = { readings: [] }] = cases.clips;
    const steps = parts.decoder.write(requestOf(parts.prompts, audio[0] as Tensor, reading as Reading));
    let runs = 1;
    while (!(await steps.next()).done) runs++;
    expect(runs).toBe(reading?.tokens.length);
  });

  it('goes on with another draft where the first was wrong', async () => {
    const { parts, audio } = await heard;
    const fewer: boolean[] = [];
    for (const [index, { readings }] of cases.clips.entries())
      for (const reading of readings.filter(({ draftIs }) => draftIs === 'partly right')) {
        const right = saidOf(reading);
        const request = requestOf(parts.prompts, audio[index] as Tensor, reading);
        for (const count of [0, 3, 50]) {
          const redraft = (tokens: readonly number[]) => [...right.slice(tokens.length, tokens.length + count), 7];
          const steps = parts.decoder.write({ ...request, redraft });
          let runs = 1;
          let step = await steps.next();
          for (; !step.done; step = await steps.next()) runs++;
          expectWritten(step.value, reading, tolerance);
          if (count === 50) fewer.push(runs < reading.tokens.length - 3);
        }
      }
    expect(fewer.length).toBeGreaterThan(3);
    // Each of its runs takes one token.
    expect(fewer.some((is) => is)).toBe(name === 'static');
  });

  it('is read as a folder of ours, by its name', async () => {
    const { asr, languages, abilities, warning } = await loadModels(
      MODEL_TABLE,
      { ...TONE, asrModel: folderOf(name) },
      () => undefined,
    );
    expect(asr).toMatchObject({ name, provider: 'cpu', vocabularySize: 318 });
    expect(languages.length).toBe(30);
    expect(abilities).toMatchObject({ drafts: true, languageGuess: true, context: true });
    expect(warning).toBeNull();
    await asr.warmUp(samplesOf[4] as Int16Array);
    const [index, reading] = [3, cases.clips[3]?.readings[0] as Reading];
    const { tokens } = await runThrough(asr.transcribe(samplesOf[index] as Int16Array, []));
    const expected = saidOf(reading);
    expect(tokens.length).toBeGreaterThan(3);
    expect(tokens).toEqual(expected.slice(0, tokens.length));
  });
});

describe('a cache with an end', () => {
  const room = 40;

  async function limited() {
    const { parts, audio } = await hear('static');
    const opened = await openSession(`${folderOf('static')}/decoder.onnx`, session);
    return { parts, audio: audio[1] as Tensor, decoder: new StaticCacheDecoder(opened, parts.config, room) };
  }

  it('ends a text that does not fit in, whatever the draft', async () => {
    const { parts, audio, decoder } = await limited();
    const reading = cases.clips[1]?.readings[0] as Reading;
    const request = { ...requestOf(parts.prompts, audio, reading), endTokens: [-1], maxTokens: 100, newTokensMax: 100 };
    const { tokens } = await runThrough(decoder.write(request));
    expect(tokens.length).toBe(room - request.prompt.length);
    expect(tokens.slice(0, saidOf(reading).length)).toEqual(saidOf(reading).slice(0, tokens.length));
    const again = await runThrough(decoder.write({ ...request, draft: [...tokens, ...tokens] }));
    expect(again.tokens).toEqual(tokens);
  });

  it('refuses a prompt that does not fit in', async () => {
    const { parts, audio, decoder } = await limited();
    const request = requestOf(parts.prompts, audio, {
      ...(cases.clips[1]?.readings[0] as Reading),
      context: 'x'.repeat(99),
    });
    expect(() => decoder.write(request)).toThrow(/got a prompt of \d+ tokens, expected less than 40/);
  });
});
