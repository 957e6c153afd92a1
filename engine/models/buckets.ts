/**
 * Sizes in which a GPU is given audio. onnxruntime-node lets no one choose how cuDNN finds its way to compute a
 * convolution: for each new shape it tries all of them, which takes long. So there are few shapes, and each is tried at
 * the start. A CPU tries nothing and pads nothing.
 */
import type { Device } from '../onnx.ts';

/** Counts of chunks (1 s each) that are tried at the start; larger runs have a multiple of the last one. */
const CHUNK_BUCKETS: readonly number[] = [1, 2, 4, 8, 16, 32];
const LARGEST = 32;

/** Chunks that a run of `chunks` is to have, with those that are padded. */
export function chunksToRun(chunks: number, provider: Device['provider']): number {
  if (provider === 'cpu') return chunks;
  return CHUNK_BUCKETS.find((bucket) => bucket >= chunks) ?? Math.ceil(chunks / LARGEST) * LARGEST;
}

/** Counts of chunks to warm up with. */
export function chunksToWarmUp(provider: Device['provider']): readonly number[] {
  return provider === 'cpu' ? [] : CHUNK_BUCKETS;
}

/**
 * `mel` [bands, frames] with columns of zeros behind it: [bands, paddedFrames]. What comes of them is not to be kept.
 * Returns `mel` itself where nothing is to be added.
 */
export function padFrames(mel: Float32Array, bands: number, paddedFrames: number): Float32Array {
  const frames = mel.length / bands;
  if (frames === paddedFrames) return mel;
  const padded = new Float32Array(bands * paddedFrames);
  for (let band = 0; band < bands; band++)
    padded.set(mel.subarray(band * frames, (band + 1) * frames), band * paddedFrames);
  return padded;
}
