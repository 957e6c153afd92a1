/**
 * Makes runs of Qwen3-ASR's decoder slow or deadly: each blocks its thread for DECODER_RUN_MS first (0), and one that
 * goes on with a text of more than DECODER_DIES_OVER audio tokens (never) ends its process.
 */
import { createRequire } from 'node:module';

const { DECODER_RUN_MS = '0', DECODER_DIES_OVER = 'Infinity' } = process.env;
const { InferenceSession } = createRequire(import.meta.resolve('onnxruntime-node'))('onnxruntime-common');
const { run } = InferenceSession.prototype;

function block(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

InferenceSession.prototype.run = function (feeds, ...others) {
  if ('past_keys' in feeds) {
    block(Number(DECODER_RUN_MS));
    if (feeds.past_keys.dims[3] > Number(DECODER_DIES_OVER)) process.kill(process.pid, 'SIGKILL');
  }
  return run.call(this, feeds, ...others);
};
