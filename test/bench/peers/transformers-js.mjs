/**
 * `@huggingface/transformers`, installed in a folder of its own, with the pipeline that its documentation shows:
 * `node transformers-js.mjs <folder of the install> <folder of models> <model> [seconds of a window]`.
 * Its pipeline for Moonshine does not cut long audio, so whoever uses it does: here in windows of equal length, one after the other.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { serve } from './serve.mjs';

const [folder = '', models = '', model = '', windowSeconds = 'Infinity'] = process.argv.slice(2);
const { env, pipeline } = createRequire(join(folder, 'package.json'))('@huggingface/transformers');
env.localModelPath = models;
env.allowRemoteModels = false;
const sessionOptions = { intraOpNumThreads: 1, interOpNumThreads: 1 };
const transcriber = await pipeline('automatic-speech-recognition', model, { dtype: 'q8', device: 'cpu', session_options: sessionOptions });
await serve(transcribe);

async function transcribe(audio) {
  const texts = [];
  const windowSamples = Math.min(Number(windowSeconds) * 16_000, audio.length);
  for (let at = 0; at < audio.length; at += windowSamples) {
    const { text } = await transcriber(audio.subarray(at, at + windowSamples));
    texts.push(text.trim());
  }
  return texts.join(' ');
}
