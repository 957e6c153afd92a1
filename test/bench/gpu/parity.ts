/** Whether a device computes what the CPU computes. */
import type { Device } from '../../../engine/onnx.ts';
import { Tensor } from '../../../engine/onnxruntime.ts';
import { numbersOf, relativeDifference } from './numbers.ts';
import { QwenGraphs } from './qwen-graphs.ts';

/** One comparison of a device with the CPU. */
export interface Parity {
  /** Greatest difference of the encoder's numbers, as a share of the greatest number. */
  readonly encoder: number;
  /** Clips whose tokens are all the same, and how many there were. */
  readonly equalClips: number;
  readonly clips: number;
  /** Share of the tokens (0–1) that are the same up to each clip's first difference. */
  readonly tokens: number;
}

const NEW_TOKENS = 24;
const CPU: Device = { provider: 'cpu' };

/**
 * Compares `folder` on `device` with `reference` on the CPU: each clip alone, on both sides the same made-up sound.
 * @param reference the same weights, of another type or the same
 */
export async function compareDevices(
  { folder, device }: { readonly folder: string; readonly device: Device },
  reference: string,
  clipCount: number,
): Promise<Parity> {
  const [found, expected] = [await QwenGraphs.open(folder, device), await QwenGraphs.open(reference, CPU)];
  try {
    const parities: Parity[] = [];
    for (let clip = 0; clip < clipCount; clip++) parities.push(await compareClip(found, expected, clip));
    const sum = (value: (parity: Parity) => number) => parities.reduce((total, parity) => total + value(parity), 0);
    return {
      encoder: Math.max(...parities.map(({ encoder }) => encoder)),
      equalClips: sum(({ equalClips }) => equalClips),
      clips: parities.length,
      tokens: sum(({ tokens }) => tokens) / parities.length,
    };
  } finally {
    await found.close();
    await expected.close();
  }
}

async function compareClip(found: QwenGraphs, expected: QwenGraphs, seed: number): Promise<Parity> {
  const chunks = 1 + (seed % 10);
  const read = async (graphs: QwenGraphs) => {
    const features = await graphs.encode([chunks], chunks, seed);
    const { tokens } = await graphs.decode(features, [chunks], NEW_TOKENS);
    return { features: numbersOf(features), tokens: tokens[0] ?? [] };
  };
  const [one, other] = [await read(found), await read(expected)];
  const agreed = other.tokens.findIndex((token, index) => token !== one.tokens[index]);
  const isEqual = agreed === -1 && one.tokens.length === other.tokens.length;
  return {
    encoder: relativeDifference(one.features, other.features),
    equalClips: isEqual ? 1 : 0,
    clips: 1,
    tokens: (agreed === -1 ? other.tokens.length : agreed) / other.tokens.length,
  };
}

/**
 * Greatest difference of the encoder's numbers when chunks of zeros follow the clips, and whether clips of a batch get
 * the tokens that they get alone.
 */
export async function compareBatches(
  folder: string,
  device: Device,
  { clips, paddedChunks }: { readonly clips: readonly number[]; readonly paddedChunks: number },
): Promise<{ readonly encoder: number; readonly equalRows: number }> {
  const graphs = await QwenGraphs.open(folder, device);
  try {
    const chunks = clips.reduce((total, clip) => total + clip, 0);
    const features = await graphs.encode(clips, chunks, 1);
    const padded = await graphs.encode(clips, paddedChunks, 1);
    const together = await graphs.decode(features, clips, NEW_TOKENS);
    let equalRows = 0;
    let at = 0;
    for (const [row, clip] of clips.entries()) {
      const end = at + clip * graphs.shape.chunkTokens;
      const alone = await graphs.decode(rowsOf(features, at, end), [clip], NEW_TOKENS);
      if (alone.tokens[0]?.join() === together.tokens[row]?.join()) equalRows++;
      at = end;
    }
    return { encoder: relativeDifference(numbersOf(padded), numbersOf(features)), equalRows };
  } finally {
    await graphs.close();
  }
}

/** Rows of [rows, width], as a tensor of their own. */
function rowsOf(features: Tensor, from: number, to: number): Tensor {
  const [, width = 1] = features.dims;
  const dims = [to - from, width];
  if (features.data instanceof Float32Array)
    return new Tensor('float32', features.data.slice(from * width, to * width), dims);
  return new Tensor('float16', (features.data as Uint16Array).slice(from * width, to * width), dims);
}
