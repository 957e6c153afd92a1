/** How far the table of positions in an adapter's graph reaches. Exports may cut it. */
import { type InferenceSession, Tensor } from '../../onnxruntime.ts';
import type { StreamingConfig } from './config.ts';
import { FEATURE_SAMPLES } from './frontend.ts';
import { widthOf } from './graph-shape.ts';

/** Frames that no published table goes beyond: 82 s. */
const FRAMES_MAX = 4096;
/** Onnxruntime's level of what ends the process: asking for what is not there is no error to be told. */
const LOG_NOTHING = { logSeverityLevel: 4 } as const;

/**
 * The longest speech that has positions, in samples. A published table has them all, which takes one short run to see.
 * @throws ModelFileError when nothing says how wide a frame is
 */
export async function reachOf(
  adapter: InferenceSession,
  { encoderWidth }: Pick<StreamingConfig, 'encoderWidth'>,
): Promise<number> {
  const width = encoderWidth ?? widthOf(adapter.inputMetadata, 'encoded', 2);
  if (await hasPosition(adapter, width, FRAMES_MAX - 1)) return FRAMES_MAX * FEATURE_SAMPLES;
  let [there, missing] = [0, FRAMES_MAX - 1];
  while (missing - there > 1) {
    const middle = (there + missing) >> 1;
    if (await hasPosition(adapter, width, middle)) there = middle;
    else missing = middle;
  }
  return (there + 1) * FEATURE_SAMPLES;
}

function hasPosition(adapter: InferenceSession, width: number, position: number): Promise<boolean> {
  const encoded = new Tensor('float32', new Float32Array(width), [1, 1, width]);
  const offset = new Tensor('int64', BigInt64Array.of(BigInt(position)), [1]);
  return adapter.run({ encoded, pos_offset: offset }, LOG_NOTHING).then(
    () => true,
    () => false,
  );
}
