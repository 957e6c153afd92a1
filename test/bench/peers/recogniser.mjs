/**
 * One of this engine's recognisers, as built in `dist`, without the process around it:
 * `node recogniser.mjs <dist/engine> <name or folder> <cache folder> <tokens of a decoder run> <rewritten or shipped>`.
 * With `stepSamples` in a request the speech is read as calls read it: a window each so many samples, each longer. With
 * `drafted` it is read with what it said of speech of that length before as its draft.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serve } from './serve.mjs';

const [engine = '', name = '', cacheDir = '', runTokens = '', modelGraphs = ''] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(engine, path)).href);
const [{ findRecogniser }, { MODEL_TABLE }, { readLexicon }, { speechLikeNoise }, shared] = await Promise.all([
  load('models/find-recogniser.js'),
  load('models/model-table.js'),
  load('models/lexicon.js'),
  load('warm-up.js'),
  load('shared-runs.js'),
]);
const { row, folder } = findRecogniser(MODEL_TABLE, name, '');
const { asr, warning } = await row.load({
  settings: {
    threads: 1,
    modelGraphs,
    modelCacheDir: cacheDir,
    decodeRunTokens: Number(runTokens),
    modelsDir: '',
  },
  device: { provider: 'cpu' },
  lexicon: await readLexicon(''),
  progress: (text) => process.stderr.write(`${text}\n`),
  folder,
});
if (warning !== null) throw new Error(warning);
for (const seconds of [1, 4]) await asr.warmUp(speechLikeNoise(seconds * 16_000));
let streams = 0;
/** By the length of what was heard. */
const texts = new Map();
await serve(transcribe, (samples) => samples);

async function transcribe(samples, { stepSamples = samples.length, drafted = 0 }) {
  const options = stepSamples < samples.length ? { stream: ++streams } : {};
  let [tokens, longestMs] = [drafted === 1 ? texts.get(samples.length) : [], 0];
  for (let end = Math.min(stepSamples, samples.length); ; end = Math.min(end + stepSamples, samples.length)) {
    const goesOn = end < samples.length;
    const steps = asr.transcribe(samples.subarray(0, end), tokens, { ...options, goesOn });
    for (;;) {
      const beginMs = performance.now();
      const step = await steps.next();
      if (step.value instanceof shared.RunRequest) await shared.makeRun([step.value]);
      longestMs = Math.max(longestMs, performance.now() - beginMs);
      if (!step.done) continue;
      ({ tokens } = step.value);
      if (end < samples.length) break;
      texts.set(samples.length, tokens);
      return { text: step.value.text, tokens: tokens.length, longestMs };
    }
  }
}
