/**
 * This engine's recogniser, as built in `dist`, without the process around it:
 * `node trunkline.mjs <dist/engine/models> rewritten|shipped <cache folder> <tokens of a decoder run>`.
 * `shipped` runs the package's graphs with onnxruntime's own session options, in the engine's decoding loop.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serve } from './serve.mjs';

const [folder = '', graphs = '', cacheDir = '', runTokens = ''] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(join(folder, name)).href);
const asr = graphs === 'rewritten' ? await rewritten() : await shipped();
await serve(transcribe, (samples) => samples);

async function rewritten() {
  const { loadMoonshine } = await load('moonshine.js');
  const progress = (text) => process.stderr.write(`${text}\n`);
  const options = {
    device: { provider: 'cpu' },
    threads: 1,
    graphs: 'rewritten',
    cacheDir,
    runTokens: Number(runTokens),
    progress,
  };
  const { asr: loaded, warning } = await loadMoonshine(options);
  if (warning !== null) throw new Error(warning);
  return loaded;
}

async function shipped() {
  const [{ moonshineOn, shippedFiles }, { shippedGraphs }, { InferenceSession }] = await Promise.all([
    load('moonshine.js'),
    load('moonshine-shipped.js'),
    import('onnxruntime-node'),
  ]);
  const { encoder, decoder } = shippedFiles();
  const options = { executionProviders: ['cpu'], intraOpNumThreads: 1, interOpNumThreads: 1 };
  return moonshineOn(
    shippedGraphs(await InferenceSession.create(encoder, options), await InferenceSession.create(decoder, options)),
    'cpu',
  );
}

async function transcribe(samples) {
  const steps = asr.transcribe(samples, []);
  for (;;) {
    const step = await steps.next();
    if (step.done) return step.value.text;
  }
}
