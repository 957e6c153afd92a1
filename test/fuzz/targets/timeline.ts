import assert from 'node:assert/strict';
import { Timeline } from '../../../src/audio/timeline.ts';
import type { FuzzTarget } from '../fuzz.ts';

const OPTIONS = { rateHz: 8000, reorderMs: 60, gapMaxMs: 1000 };
const GAP_MAX_SAMPLES = 8000;
const CHUNK_BYTES = 20;

/** A track as bytes: per chunk its length in samples (16 bits), 16 unused, its time and its sequence (doubles). */
function track(chunks: readonly [length: number, atMs: number, sequence: number][]): Uint8Array {
  const bytes = Buffer.alloc(chunks.length * CHUNK_BYTES);
  chunks.forEach(([length, atMs, sequence], i) => {
    bytes.writeUInt16LE(length, i * CHUNK_BYTES);
    bytes.writeDoubleLE(atMs, i * CHUNK_BYTES + 4);
    bytes.writeDoubleLE(sequence, i * CHUNK_BYTES + 12);
  });
  return bytes;
}

const inOrder = Array.from({ length: 40 }, (_, i): [number, number, number] => [160, i * 20, i + 1]);

/**
 * Each chunk comes out once or is dropped; besides them only gaps come out, one before a chunk at most, and none is too
 * long.
 */
export const target: FuzzTarget = {
  name: 'timeline',
  seeds: [
    track(inOrder),
    track(inOrder.filter((_, i) => i % 7 !== 3)),
    track(inOrder.map((chunk, i) => inOrder[i ^ 1] ?? chunk)),
    track(inOrder.map(([length, atMs, sequence]) => [length, atMs > 300 ? atMs + 5000 : atMs, sequence])),
  ],
  run(input) {
    const timeline = new Timeline(OPTIONS);
    const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
    const waiting = new Set<Int16Array>();
    let gaps = 0;
    let chunks = 0;
    const take = (stretches: Int16Array[]) => {
      for (const stretch of stretches) {
        if (waiting.delete(stretch)) chunks++;
        else {
          gaps++;
          assert(stretch.length > 0 && stretch.length <= GAP_MAX_SAMPLES, `a gap of ${stretch.length} samples`);
        }
      }
      assert(gaps <= chunks, 'more gaps than chunks');
    };
    for (let at = 0; at + CHUNK_BYTES <= input.length; at += CHUNK_BYTES) {
      const samples = new Int16Array(view.getUint16(at, true) % 1000);
      waiting.add(samples);
      take(timeline.push({ samples, atMs: view.getFloat64(at + 4, true), sequence: view.getFloat64(at + 12, true) }));
    }
    take(timeline.flush());
    assert.deepEqual(timeline.flush(), [], 'flush left something');
  },
};
