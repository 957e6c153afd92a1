import { expect, it } from 'vitest';
import { LoopDecoder } from '../../../../engine/models/qwen3-asr/decoder.ts';
import { type InferenceSession, Tensor } from '../../../../engine/onnxruntime.ts';
import { runThrough } from '../../../../engine/scheduler.ts';

const SHAPE = { vocabularySize: 318, layers: 1, keyValueHeads: 1, headSize: 2, audioPadToken: 315 };
const OPTIONS = { runTokens: 4, keepsPast: false, batchMax: 1 };

/** What comes of a graph that writes these tokens. */
function write(tokens: readonly number[]): Promise<unknown> {
  const whole = (values: readonly number[], dims: number[]) => new Tensor('int64', values.map(BigInt), dims);
  const outputs = {
    agreed: whole([0], [1]),
    tokens: whole(tokens, [1, tokens.length]),
    draft_logprobs: new Tensor('float32', [], [1, 0]),
    logprobs: new Tensor('float32', new Float32Array(tokens.length), [1, tokens.length]),
  };
  const session = { run: async () => outputs } as unknown as InferenceSession;
  const audio = new Tensor('float32', [], [0, 4]);
  const request = { prompt: [1], audio, draft: [], maxTokens: 4, newTokensMax: 4, endTokens: [9] };
  return runThrough(new LoopDecoder(session, SHAPE, OPTIONS).write(request));
}

it.each([318, -1, 1e15])('refuses a graph that writes the token %d, which the vocabulary has not', async (token) => {
  await expect(write([5, token, 6, 9])).rejects.toThrow(`the decoder wrote the token ${token}, expected one below 318`);
});

it('takes every token that the vocabulary has', async () => {
  expect(await write([0, 317, 6, 9])).toMatchObject({ tokens: [0, 317, 6] });
});
