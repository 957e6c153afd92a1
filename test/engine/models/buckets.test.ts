import { describe, expect, it } from 'vitest';
import { chunksToRun, chunksToWarmUp, padFrames } from '../../../engine/models/buckets.ts';
import { warmUpSizes } from '../../../engine/models/qwen3-asr/encoder.ts';
import type { AudioEncoder } from '../../../engine/models/qwen3-asr/parts.ts';
import { Tensor } from '../../../engine/onnxruntime.ts';

describe('sizes in which a GPU is given audio', () => {
  it('are few, and never below what there is', () => {
    const sizes = Array.from({ length: 100 }, (_, index) => chunksToRun(index + 1, 'cuda'));
    expect(sizes.every((size, index) => size >= index + 1)).toBe(true);
    expect([...new Set(sizes)]).toEqual([1, 2, 4, 8, 16, 32, 64, 96, 128]);
    expect([...new Set(sizes)]).toEqual(expect.arrayContaining([...chunksToWarmUp('cuda')]));
  });

  it('are what they are on a CPU, where nothing is warmed up for them', () => {
    expect([1, 3, 31, 100].map((chunks) => chunksToRun(chunks, 'cpu'))).toEqual([1, 3, 31, 100]);
    expect(chunksToWarmUp('cpu')).toEqual([]);
  });

  it('are reached with columns of zeros behind each band', () => {
    const mel = Float32Array.of(1, 2, 3, 4, 5, 6);
    expect(Array.from(padFrames(mel, 2, 5))).toEqual([1, 2, 3, 0, 0, 4, 5, 6, 0, 0]);
    expect(padFrames(mel, 2, 3)).toBe(mel);
  });

  it('are each tried once when an encoder is warmed up on a GPU', async () => {
    const shape = { melBins: 2, chunkFrames: 10, chunkTokens: 3 };
    const tried: [chunks: number, floats: number, tokens: number][] = [];
    const encoder: AudioEncoder = {
      async *encode({ mel, chunks, tokens }) {
        tried.push([chunks, mel.length, tokens]);
        yield;
        return new Tensor('float32', new Float32Array(0), [0, 1]);
      },
    };
    await warmUpSizes(encoder, shape, 'cpu');
    expect(tried).toEqual([]);
    await warmUpSizes(encoder, shape, 'cuda');
    expect(tried).toEqual([1, 2, 4, 8, 16, 32].map((chunks) => [chunks, 20 * chunks, 3 * chunks]));
  });
});
