import { beforeAll, describe, expect, it } from 'vitest';
import type { Asr, Recognition } from '../../../engine/models/model.ts';
import { loadMoonshine } from '../../../engine/models/moonshine.ts';
import { TEST_CACHE_DIR } from '../settings.ts';
import { finish, speech } from '../speech.ts';

const END_TOKEN = 2;
const RUN_TOKENS = 8;

const mean = (values: ArrayLike<number>) => Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;

describe.each(['rewritten', 'shipped'] as const)('Moonshine with %s graphs', (graphs) => {
  let asr: Asr;
  let spoken: Int16Array;
  let undrafted: Recognition;
  let undraftedRuns: number;

  const encoderRuns = graphs === 'shipped' ? 1 : 4;
  /** Model runs for `count` tokens that no draft brought. */
  const runsFor = (count: number) => encoderRuns + (graphs === 'shipped' ? count : Math.ceil(count / RUN_TOKENS));

  beforeAll(async () => {
    const device = { provider: 'cpu' } as const;
    const loaded = await loadMoonshine({
      device,
      threads: 1,
      graphs,
      cacheDir: TEST_CACHE_DIR,
      runTokens: RUN_TOKENS,
      progress: () => undefined,
    });
    expect(loaded.warning).toBeNull();
    asr = loaded.asr;
    spoken = speech('short');
    ({ result: undrafted, runs: undraftedRuns } = await finish(asr.transcribe(spoken, [])));
  });

  it('writes what is said', () => {
    expect(undrafted.text.toLowerCase()).toContain('leave a message after the tone');
    expect(undrafted.looped).toBe(false);
  });

  it('says how probable each token was', () => {
    const logprobs = undrafted.logprobs ?? [];
    expect(logprobs).toHaveLength(undrafted.tokens.length);
    for (const logprob of logprobs) expect(logprob).toBeLessThanOrEqual(1e-4);
    expect(mean(logprobs)).toBeGreaterThan(-0.5);
    expect(mean(logprobs)).toBeLessThan(0);
  });

  it('reads speech as the words that are expected alone, the likeliest first', async () => {
    const expectedWords = ['after', 'leave', 'message', 'the', 'a', 'tone', 'please', 'banana'];
    const { result } = await finish(asr.transcribe(spoken, [], { expectedWords }));
    const [best, ...others] = result.expectedReadings ?? [];
    expect(result.text).toBe(undrafted.text);
    expect(best?.text.toLowerCase()).toContain('leave a message after the tone');
    for (const { behind } of others) expect(behind).toBeGreaterThanOrEqual(best?.behind ?? Number.NaN);
  });

  it('finds no such reading where nothing of the kind is said', async () => {
    const { result } = await finish(asr.transcribe(spoken, [], { expectedWords: ['banana', 'Tuesday'] }));
    expect(result.expectedReadings).toEqual([]);
    expect(undrafted).not.toHaveProperty('expectedReadings');
  });

  it.each([4, 100])('says about the same of them with a draft of up to %i tokens', async (length) => {
    const { result } = await finish(asr.transcribe(spoken, undrafted.tokens.slice(0, length)));
    expect(result.logprobs).toHaveLength(undrafted.tokens.length);
    for (const [index, logprob] of undrafted.logprobs?.entries() ?? [])
      expect(Math.abs((result.logprobs?.[index] ?? Number.NaN) - logprob)).toBeLessThan(0.3);
  });

  it('makes no more runs than it has to', () => {
    expect(undraftedRuns).toBe(runsFor(undrafted.tokens.length + 1));
  });

  it('verifies a whole draft in one run', async () => {
    const { result, runs } = await finish(asr.transcribe(spoken, undrafted.tokens));
    expect(result.text).toBe(undrafted.text);
    expect(runs).toBe(encoderRuns + 1);
  });

  it('goes on from the part of a draft that it agrees with', async () => {
    const kept = undrafted.tokens.slice(0, 4);
    const { result, runs } = await finish(asr.transcribe(spoken, [...kept, 9999, 9998]));
    expect(result.tokens).toEqual(undrafted.tokens);
    expect(runs).toBe(runsFor(undrafted.tokens.length + 1 - kept.length));
  });

  it('gives the same text whatever the draft', async () => {
    const tooLong = Array.from({ length: 500 }, () => 278);
    for (const draft of [[9999], tooLong, [END_TOKEN], [...undrafted.tokens, END_TOKEN, 9999]]) {
      expect((await finish(asr.transcribe(spoken, draft))).result.text).toBe(undrafted.text);
    }
  });

  it.each([0, 1, 400, 894, 895, 1599])('takes %i samples', async (length) => {
    const { result } = await finish(asr.transcribe(spoken.subarray(8000, 8000 + length), []));
    expect(result.tokens.length).toBeLessThanOrEqual(3);
  });

  it('hears no words in silence', async () => {
    expect((await finish(asr.transcribe(new Int16Array(32_000), []))).result.text).toBe('');
  });
});
