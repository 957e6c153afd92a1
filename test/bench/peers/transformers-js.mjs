/**
 * `@huggingface/transformers`, installed in a folder of its own, with the pipeline that its documentation shows:
 * `node transformers-js.mjs <folder of the install> <folder of models> <model>`.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { serve } from './serve.mjs';

const [folder = '', models = '', model = ''] = process.argv.slice(2);
const { env, pipeline } = createRequire(join(folder, 'package.json'))('@huggingface/transformers');
env.localModelPath = models;
env.allowRemoteModels = false;
const sessionOptions = { intraOpNumThreads: 1, interOpNumThreads: 1 };
const transcriber = await pipeline('automatic-speech-recognition', model, {
  dtype: 'q8',
  device: 'cpu',
  session_options: sessionOptions,
});
await serve(async (samples) => (await transcriber(samples)).text);
