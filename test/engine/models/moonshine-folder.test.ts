/** Folders of Moonshine that does not stream, in the publisher's layout: with the weights of Moonshine tiny. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import llamaTokenizer from 'llama-tokenizer-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findRecogniser } from '../../../engine/models/find-recogniser.ts';
import { MODEL_TABLE } from '../../../engine/models/model-table.ts';
import { loadMoonshine, shippedFiles } from '../../../engine/models/moonshine.ts';
import { loadMoonshineFolder } from '../../../engine/models/moonshine-folder.ts';
import { shippedGraphs } from '../../../engine/models/moonshine-shipped.ts';
import { type InferenceSession, Tensor } from '../../../engine/onnxruntime.ts';
import { runThrough } from '../../../engine/scheduler.ts';
import { TEST_CACHE_DIR } from '../settings.ts';
import { finish, speech } from '../speech.ts';

const OPTIONS = { device: { provider: 'cpu' }, threads: 1 } as const;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-moonshine-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The publisher's tokenizer.bin: a length and that many bytes for each token. */
function tokenizerFile(): Buffer {
  return Buffer.concat(
    Array.from({ length: 32_768 }, (_, token) => {
      const bytes = Buffer.from(llamaTokenizer.vocabById[token] ?? '<unused>');
      const length = bytes.length < 128 ? [bytes.length] : [128 + (bytes.length % 128), bytes.length >> 7];
      return Buffer.concat([Buffer.from(length), bytes]);
    }),
  );
}

/** @param name as the publisher calls the model */
function folderOf(name: string): string {
  const own = join(folder, name, 'quantized', name);
  mkdirSync(own, { recursive: true });
  const { encoder, decoder } = shippedFiles();
  symlinkSync(encoder, join(own, 'encoder_model.onnx'));
  symlinkSync(decoder, join(own, 'decoder_model_merged.onnx'));
  writeFileSync(join(own, 'tokenizer.bin'), tokenizerFile());
  return own;
}

describe('a folder of Moonshine', () => {
  it('is known by its files, and reads as the recogniser of the npm package with the same graphs', async () => {
    const own = folderOf('tiny-en');
    expect(findRecogniser(MODEL_TABLE, own, { modelsDir: '', setting: 'ASR_MODEL' }).row.name).toBe('moonshine');
    const { asr, languages, warning } = await loadMoonshineFolder(own, OPTIONS);
    expect([asr.name, asr.vocabularySize, languages, warning]).toEqual(['tiny-en', 32_768, ['en'], null]);
    const packaged = await loadMoonshine({
      ...OPTIONS,
      graphs: 'shipped',
      cacheDir: TEST_CACHE_DIR,
      runTokens: 8,
      progress: () => undefined,
    });
    const samples = speech('short');
    const [ours, theirs] = [
      await finish(asr.transcribe(samples, [])),
      await finish(packaged.asr.transcribe(samples, [])),
    ];
    expect(ours.result).toEqual(theirs.result);
    expect(ours.result.text.toLowerCase()).toContain('leave a message after the tone');
    const drafted = await finish(asr.transcribe(samples, ours.result.tokens));
    expect([drafted.result.text, drafted.runs]).toEqual([ours.result.text, 2]);
    const biased = await finish(asr.transcribe(samples, [], { hotWords: ['message'], spelled: true }));
    expect(biased.result.text).toBe(ours.result.text);
    expect(
      Buffer.concat(biased.result.pieces ?? [])
        .toString()
        .trim(),
    ).toBe(ours.result.text);
  });

  it.each([
    ['its publisher named', () => folderOf('base-es'), ['es']],
    [
      'has a bridge.json',
      () => {
        const own = folderOf('mine');
        const bridge = {
          format: 1,
          family: 'moonshine',
          name: 'mine',
          version: '1',
          languages: ['ko'],
          licence: 'Moonshine Community',
          files: { 'tokenizer.bin': 'a'.repeat(64) },
        };
        writeFileSync(join(own, 'bridge.json'), JSON.stringify(bridge));
        return own;
      },
      ['ko'],
    ],
  ])('of another language warns of its licence, whether it %s it or not', async (_, make, expected) => {
    const { languages, warning } = await loadMoonshineFolder(make(), OPTIONS);
    expect(languages).toEqual(expected);
    expect(warning).toMatch(/forbids business use without a registration with Moonshine AI/);
  });

  it('is refused with the file that is wrong', async () => {
    const own = folderOf('base-es');
    copyFileSync(join(own, 'tokenizer.bin'), join(folder, 'kept'));
    writeFileSync(join(own, 'tokenizer.bin'), Buffer.from([5, 1]));
    await expect(loadMoonshineFolder(own, OPTIONS)).rejects.toThrow(
      'token 0: got 1 bytes up to the end of the file, expected 5',
    );
    rmSync(join(own, 'decoder_model_merged.onnx'));
    await expect(loadMoonshineFolder(own, OPTIONS)).rejects.toThrow(
      'lacks decoder_model_merged.onnx or decoder_model_merged.ort',
    );
    await expect(loadMoonshineFolder(join(folder, 'nowhere'), OPTIONS)).rejects.toThrow('cannot be read: ENOENT');
  });
});

describe('graphs of another shape, which want a mask', () => {
  const LAYERS = 8;
  const CACHES = Array.from({ length: LAYERS }, (_, layer) =>
    ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value'].map((part) => `${layer}.${part}`),
  ).flat();
  const metadata = (name: string, shape: readonly (number | string)[]) => ({
    name,
    isTensor: true,
    type: 'float32',
    shape,
  });

  /** A session that remembers what it is run with, and answers `answer`. */
  function sessionOf(inputs: readonly string[], answer: () => Record<string, Tensor>): [InferenceSession, Tensor[][]] {
    const runs: Tensor[][] = [];
    const session = {
      inputNames: inputs,
      inputMetadata: inputs.map((name) =>
        metadata(name, name.startsWith('past') ? ['batch', 8, 'past', 52] : ['batch']),
      ),
      outputMetadata: [metadata('logits', ['batch', 'tokens', 9])],
      run: (feeds: Record<string, Tensor>) => {
        runs.push(inputs.map((name) => feeds[name] as Tensor));
        return Promise.resolve(answer());
      },
    };
    return [session as unknown as InferenceSession, runs];
  }

  it('get caches of their own shape and a mask of the whole waveform', async () => {
    const [encoder, encoded] = sessionOf(['input_values', 'attention_mask'], () => ({
      last_hidden_state: new Tensor('float32', new Float32Array(416), [1, 1, 416]),
    }));
    const cache = new Tensor('float32', new Float32Array(8 * 52), [1, 8, 1, 52]);
    const presents = Object.fromEntries(CACHES.map((name) => [`present.${name}`, cache]));
    const inputs = ['input_ids', 'encoder_attention_mask', 'encoder_hidden_states', 'use_cache_branch'];
    const [decoder, decoded] = sessionOf([...inputs, ...CACHES.map((name) => `past_key_values.${name}`)], () => ({
      logits: new Tensor(
        'float32',
        Float32Array.from({ length: 9 }, (_, token) => token),
        [1, 1, 9],
      ),
      ...presents,
    }));
    const decoding = await runThrough(shippedGraphs(encoder, decoder).encode(new Float32Array(1600)));
    expect((await decoding.start([])).tokens).toEqual([8]);
    expect((await decoding.more()).tokens).toEqual([8]);
    expect(encoded[0]?.map(({ dims }) => dims)).toEqual([
      [1, 1600],
      [1, 1600],
    ]);
    expect(encoded[0]?.[1]?.data.every((value) => value === 1n)).toBe(true);
    const [first, second] = decoded;
    expect(first?.slice(0, 3).map(({ dims }) => dims)).toEqual([
      [1, 1],
      [1, 1600],
      [1, 1, 416],
    ]);
    expect(new Set(first?.slice(4).map(({ dims }) => dims.join()))).toEqual(new Set(['1,8,0,52']));
    expect(new Set(second?.slice(4).map(({ dims }) => dims.join()))).toEqual(new Set(['1,8,1,52']));
    expect(second).toHaveLength(4 + 4 * LAYERS);
  });
});
