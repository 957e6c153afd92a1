import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/engine-client/engine.ts';
import { hashOf, type Prompt, type PromptKey } from '../../src/speech/prompt.ts';
import { settle } from '../fakes/clock.ts';
import { countedCache, keyOf } from './caching.ts';

const KEY = keyOf('Hello there.');
const PROMPT: Prompt = { bytes: new Uint8Array(1600).fill(7), durationMs: 200 };

/** A synthesis in the hand of the test. */
class Synthesis {
  calls = 0;
  signal: AbortSignal | null = null;
  resolve: (prompt: Prompt) => void = () => undefined;
  reject: (error: Error) => void = () => undefined;

  readonly begin = (signal: AbortSignal): Promise<Prompt> => {
    this.calls++;
    this.signal = signal;
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
      signal.addEventListener('abort', () => reject(new EngineError('cancelled', 'aborted')));
    });
  };
}

describe('the name of a prompt', () => {
  const changes: Partial<PromptKey>[] = [
    { model: 'fake-tts-2' },
    { voice: 'slt' },
    { speed: 1.1 },
    { normaliser: 'off' },
    { text: 'Hello there!' },
    { codec: { ...KEY.codec, name: 'alaw' } },
    { codec: { ...KEY.codec, rateHz: 16_000 } },
  ];

  it.each(changes)('changes with everything that changes the sound: %j', (change) => {
    expect(hashOf({ ...KEY, ...change })).not.toBe(hashOf(KEY));
  });

  it('is the same for the same', () => {
    expect(hashOf({ ...KEY, codec: { ...KEY.codec } })).toBe(hashOf(KEY));
  });
});

describe('the prompt cache', () => {
  it('has a prompt made once and then keeps it', async () => {
    const { cache, asked, heldBytes } = countedCache();
    expect(cache.get(KEY)).toBeUndefined();
    expect(await cache.make(KEY, async () => PROMPT)).toBe(PROMPT);
    expect(cache.get(KEY)).toBe(PROMPT);
    expect(await cache.make(KEY, () => Promise.reject(new Error('asked again')))).toBe(PROMPT);
    expect(asked).toEqual(['engine', 'memory', 'memory']);
    expect(heldBytes).toEqual([cache.stats.bytes]);
  });

  it('stays within its bytes however many prompts there are, and keeps those asked for last', async () => {
    const { cache } = countedCache({ maxBytes: 100_000 });
    for (let n = 0; n < 10_000; n++) {
      await cache.make(keyOf(`prompt ${n}`), async () => PROMPT);
      if (n % 10 === 0) expect(cache.get(keyOf('prompt 0'))).toBe(PROMPT);
      expect(cache.stats.bytes).toBeLessThanOrEqual(100_000);
    }
    expect(cache.stats.prompts).toBeGreaterThan(40);
    expect(cache.get(keyOf('prompt 9999'))).toBe(PROMPT);
    expect(cache.get(keyOf('prompt 5000'))).toBeUndefined();
  });

  it('keeps nothing with 0 bytes, nor what is larger than all of it', async () => {
    const none = countedCache({ maxBytes: 0 });
    await none.cache.make(KEY, async () => PROMPT);
    expect(none.cache.stats).toMatchObject({ prompts: 0, bytes: 0 });
    const small = countedCache({ maxBytes: 1000 });
    await small.cache.make(KEY, async () => PROMPT);
    expect(small.cache.get(KEY)).toBeUndefined();
  });

  it('forgets all of them when it is cleared, also those that are just being made', async () => {
    const { cache } = countedCache();
    await cache.make(KEY, async () => PROMPT);
    const synthesis = new Synthesis();
    const late = cache.make(keyOf('late'), synthesis.begin);
    await settle();
    expect(cache.clear()).toBe(1);
    synthesis.resolve(PROMPT);
    expect(await late).toBe(PROMPT);
    expect(cache.stats).toMatchObject({ prompts: 0, bytes: 0 });
  });

  it('makes a prompt anew after a failure', async () => {
    const { cache } = countedCache();
    await expect(cache.make(KEY, () => Promise.reject(new EngineError('model_failed', 'no')))).rejects.toThrow('no');
    expect(await cache.make(KEY, async () => PROMPT)).toBe(PROMPT);
  });
});

describe('callers who want the same prompt', () => {
  it('share one synthesis', async () => {
    const { cache, asked } = countedCache();
    const synthesis = new Synthesis();
    const both = [cache.make(KEY, synthesis.begin), cache.make(KEY, synthesis.begin)];
    await settle();
    synthesis.resolve(PROMPT);
    expect(await Promise.all(both)).toEqual([PROMPT, PROMPT]);
    expect(synthesis.calls).toBe(1);
    expect(asked).toEqual(['shared', 'engine']);
  });

  it('hurry it on when they wait for what somebody else had made ahead of time', async () => {
    const { cache } = countedCache();
    const hurried: boolean[] = [];
    const synthesis = new Synthesis();
    const begin = (signal: AbortSignal, hurry: AbortSignal) => {
      hurry.addEventListener('abort', () => hurried.push(true));
      return synthesis.begin(signal);
    };
    const ahead = cache.make(KEY, begin, undefined, { waits: false });
    await settle();
    const another = cache.make(KEY, begin, undefined, { waits: false });
    expect(hurried).toEqual([]);
    const waited = cache.make(KEY, begin);
    expect(hurried).toEqual([true]);
    synthesis.resolve(PROMPT);
    expect(await Promise.all([ahead, another, waited])).toEqual([PROMPT, PROMPT, PROMPT]);
  });

  it('share its failure', async () => {
    const { cache } = countedCache();
    const synthesis = new Synthesis();
    const both = Promise.allSettled([cache.make(KEY, synthesis.begin), cache.make(KEY, synthesis.begin)]);
    await settle();
    synthesis.reject(new EngineError('model_failed', 'no'));
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('may give up one by one; only when the last has, the synthesis is aborted', async () => {
    const { cache } = countedCache();
    const synthesis = new Synthesis();
    const [first, second] = [new AbortController(), new AbortController()];
    const left = cache.make(KEY, synthesis.begin, first.signal);
    const stayed = cache.make(KEY, synthesis.begin, second.signal);
    await settle();
    first.abort();
    await expect(left).rejects.toMatchObject({ code: 'cancelled' });
    expect(synthesis.signal?.aborted).toBe(false);
    second.abort();
    await expect(stayed).rejects.toMatchObject({ code: 'cancelled' });
    expect(synthesis.signal?.aborted).toBe(true);
  });

  it('do not share one that was given up', async () => {
    const { cache } = countedCache();
    const given = new Synthesis();
    const controller = new AbortController();
    const left = cache.make(KEY, given.begin, controller.signal);
    await settle();
    controller.abort();
    const anew = cache.make(KEY, async () => PROMPT);
    await expect(left).rejects.toMatchObject({ code: 'cancelled' });
    expect(await anew).toBe(PROMPT);
    expect(cache.get(KEY)).toBe(PROMPT);
  });

  it('leave nothing on their signals', async () => {
    const { cache } = countedCache();
    const controller = new AbortController();
    await cache.make(KEY, async () => PROMPT, controller.signal);
    await settle();
    controller.abort();
    expect(cache.get(KEY)).toBe(PROMPT);
  });
});
