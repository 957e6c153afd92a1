/**
 * The way in which `@moonshine-ai/moonshine-js` 0.1.29 decodes (its src/model.ts), on onnxruntime-node instead of a
 * browser's runtime: `node moonshine-js.mjs <encoder> <decoder>`. Session options, search for the likeliest token,
 * bound on tokens: all as there, but for the one thread.
 */
import llamaTokenizer from 'llama-tokenizer-js';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { serve } from './serve.mjs';

const LAYERS = 6;
const HEADS = 8;
const HEAD_SIZE = 36;
const START_TOKEN = 1;
const END_TOKEN = 2;
const TOKENS_PER_SECOND = 6;

const [encoderPath = '', decoderPath = ''] = process.argv.slice(2);
const options = { executionProviders: ['cpu'], intraOpNumThreads: 1, interOpNumThreads: 1 };
const encoder = await InferenceSession.create(encoderPath, options);
const decoder = await InferenceSession.create(decoderPath, options);
await serve(generate);

async function generate(audio) {
  const maxTokens = Math.trunc((audio.length / 16_000) * TOKENS_PER_SECOND);
  const { last_hidden_state: hidden } = await encoder.run({
    input_values: new Tensor('float32', audio, [1, audio.length]),
  });
  const past = emptyPast();
  const tokens = [START_TOKEN];
  let next = START_TOKEN;
  for (let i = 0; i < maxTokens; i++) {
    const outputs = await decoder.run({
      input_ids: new Tensor('int64', [BigInt(next)], [1, 1]),
      encoder_hidden_states: hidden,
      use_cache_branch: new Tensor('bool', [i > 0], [1]),
      ...past,
    });
    next = likeliest(await outputs.logits.getData());
    tokens.push(next);
    if (next === END_TOKEN) break;
    for (const name of Object.keys(past)) {
      if (i === 0 || name.includes('decoder')) past[name] = outputs[name.replace('past_key_values', 'present')];
    }
  }
  return llamaTokenizer.decode(tokens.slice(0, -1));
}

function emptyPast() {
  const names = Array.from({ length: LAYERS }, (_, layer) =>
    ['decoder', 'encoder'].flatMap((side) =>
      ['key', 'value'].map((part) => `past_key_values.${layer}.${side}.${part}`),
    ),
  );
  return Object.fromEntries(names.flat().map((name) => [name, new Tensor('float32', [], [0, HEADS, 1, HEAD_SIZE])]));
}

function likeliest(logits) {
  const pairs = [].map.call(logits, (logit, token) => [logit, token]);
  return pairs.reduce((best, pair) => (pair[0] > best[0] ? pair : best))[1];
}
