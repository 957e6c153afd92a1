import { describe, expect, it } from 'vitest';
import { joinBytes } from '../../src/audio/bytes.ts';
import { EngineError } from '../../src/engine-client/engine.ts';
import { GrowingList } from '../../src/foundation/growing-list.ts';
import { hashOf, type Prompt, type PromptKey } from '../../src/speech/prompt.ts';
import { settle } from '../fakes/clock.ts';
import { countedCache, keyOf, whole } from './caching.ts';

const KEY = keyOf('Hello there.');
const { text, voice, model, speed, codec } = KEY;
const ABOUT = { text, voice, model, speed, codec };
const PROMPT: Prompt = { bytes: new Uint8Array(1600).fill(7), durationMs: 200, about: ABOUT };

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
    expect(await whole(cache, KEY, async () => PROMPT)).toEqual(PROMPT);
    expect(cache.get(KEY)).toEqual(PROMPT);
    expect(await whole(cache, KEY, () => Promise.reject(new Error('asked again')))).toEqual(PROMPT);
    expect(asked).toEqual(['engine', 'memory', 'memory']);
    expect(heldBytes).toEqual([cache.stats.bytes]);
  });

  it('stays within its bytes however many prompts there are, and keeps those asked for last', async () => {
    const { cache } = countedCache({ maxBytes: 100_000 });
    for (let n = 0; n < 10_000; n++) {
      await whole(cache, keyOf(`prompt ${n}`), async () => PROMPT);
      if (n % 10 === 0) expect(cache.get(keyOf('prompt 0'))).toMatchObject({ durationMs: 200 });
      expect(cache.stats.bytes).toBeLessThanOrEqual(100_000);
    }
    expect(cache.stats.prompts).toBeGreaterThan(40);
    expect(cache.get(keyOf('prompt 9999'))).toMatchObject({ durationMs: 200 });
    expect(cache.get(keyOf('prompt 5000'))).toBeUndefined();
  });

  it('keeps nothing with 0 bytes, nor what is larger than all of it', async () => {
    const none = countedCache({ maxBytes: 0 });
    await whole(none.cache, KEY, async () => PROMPT);
    expect(none.cache.stats).toMatchObject({ prompts: 0, bytes: 0 });
    const small = countedCache({ maxBytes: 1000 });
    await whole(small.cache, KEY, async () => PROMPT);
    expect(small.cache.get(KEY)).toBeUndefined();
  });

  it('forgets all of them when it is cleared, also those that are just being made', async () => {
    const { cache } = countedCache();
    await whole(cache, KEY, async () => PROMPT);
    const synthesis = new Synthesis();
    const late = whole(cache, keyOf('late'), synthesis.begin);
    await settle();
    expect(cache.clear()).toBe(1);
    synthesis.resolve(PROMPT);
    expect((await late).bytes).toEqual(PROMPT.bytes);
    expect(cache.stats).toMatchObject({ prompts: 0, bytes: 0 });
  });

  it('makes a prompt anew after a failure', async () => {
    const { cache } = countedCache();
    await expect(whole(cache, KEY, () => Promise.reject(new EngineError('model_failed', 'no')))).rejects.toThrow('no');
    expect(await whole(cache, KEY, async () => PROMPT)).toEqual(PROMPT);
  });
});

describe('callers who want the same prompt', () => {
  it('share one synthesis', async () => {
    const { cache, asked } = countedCache();
    const synthesis = new Synthesis();
    const both = [whole(cache, KEY, synthesis.begin), whole(cache, KEY, synthesis.begin)];
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
    const ahead = whole(cache, KEY, begin, { waits: false });
    await settle();
    const another = whole(cache, KEY, begin, { waits: false });
    expect(hurried).toEqual([]);
    const waited = whole(cache, KEY, begin);
    expect(hurried).toEqual([true]);
    synthesis.resolve(PROMPT);
    expect(await Promise.all([ahead, another, waited])).toEqual([PROMPT, PROMPT, PROMPT]);
  });

  it('share its failure', async () => {
    const { cache } = countedCache();
    const synthesis = new Synthesis();
    const both = Promise.allSettled([whole(cache, KEY, synthesis.begin), whole(cache, KEY, synthesis.begin)]);
    await settle();
    synthesis.reject(new EngineError('model_failed', 'no'));
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('may give up one by one; only when the last has, the synthesis is aborted', async () => {
    const { cache } = countedCache();
    const synthesis = new Synthesis();
    const [first, second] = [new AbortController(), new AbortController()];
    const left = whole(cache, KEY, synthesis.begin, { signal: first.signal });
    const stayed = whole(cache, KEY, synthesis.begin, { signal: second.signal });
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
    const left = whole(cache, KEY, given.begin, { signal: controller.signal });
    await settle();
    controller.abort();
    await settle();
    const anew = whole(cache, KEY, async () => PROMPT);
    await expect(left).rejects.toMatchObject({ code: 'cancelled' });
    expect(await anew).toEqual(PROMPT);
    expect(cache.get(KEY)).toEqual(PROMPT);
  });

  it('leave nothing on their signals', async () => {
    const { cache } = countedCache();
    const controller = new AbortController();
    await whole(cache, KEY, async () => PROMPT, { signal: controller.signal });
    await settle();
    controller.abort();
    expect(cache.get(KEY)).toEqual(PROMPT);
  });
});

describe('a prompt that is being made', () => {
  const part = (value: number): Uint8Array => new Uint8Array(160).fill(value);
  const signal = new AbortController().signal;
  /** 20 ms a part. */
  const wish = (parts: GrowingList<Uint8Array>, changes: { signal?: AbortSignal; expectedMs?: number } = {}) => ({
    synthesise: () => parts.read(),
    signal,
    waits: true,
    expectedMs: 60_000,
    ...changes,
  });
  /** What a listener has been given so far. */
  function listen(sound: AsyncIterable<Uint8Array>) {
    const got: number[] = [];
    const end = (async () => {
      for await (const bytes of sound) got.push(bytes[0] ?? 0);
      return 'ended';
    })().catch((error: EngineError) => error.code);
    return { got, end };
  }

  it('is given out as it is made, to a second listener from its beginning, and is kept as a whole', async () => {
    const { cache, asked } = countedCache();
    const making = new GrowingList<Uint8Array>();
    const first = listen(cache.listen(KEY, wish(making)));
    making.push(part(1));
    await settle();
    expect(first.got).toEqual([1]);
    const second = listen(cache.listen(KEY, wish(making)));
    making.push(part(2));
    await settle();
    expect([first.got, second.got]).toEqual([
      [1, 2],
      [1, 2],
    ]);
    expect(cache.get(KEY)).toBeUndefined();
    making.end();
    expect(await Promise.all([first.end, second.end])).toEqual(['ended', 'ended']);
    expect(cache.get(KEY)?.bytes).toEqual(joinBytes([part(1), part(2)]));
    expect(cache.get(KEY)?.durationMs).toBe(40);
    expect(asked.filter((from) => from !== 'memory')).toEqual(['engine', 'shared']);
  });

  it('tells all its listeners of a failure in the middle, and is not kept', async () => {
    const { cache } = countedCache();
    const making = new GrowingList<Uint8Array>();
    const listeners = [listen(cache.listen(KEY, wish(making))), listen(cache.listen(KEY, wish(making)))];
    making.push(part(1));
    await settle();
    making.fail(new EngineError('model_failed', 'no'));
    for (const { got, end } of listeners) {
      expect(await end).toBe('model_failed');
      expect(got).toEqual([1]);
    }
    expect(cache.get(KEY)).toBeUndefined();
  });

  it.each([
    ['ended', 'little is missing', 1000, true],
    ['given up', 'much is missing', 10_000, false],
  ])('is %s when its listeners have gone and %s', async (_what, _when, expectedMs, isKept) => {
    const { cache } = countedCache();
    const making = new GrowingList<Uint8Array>();
    const gone = new AbortController();
    let isAborted = false;
    const synthesise = (aborted: AbortSignal) => {
      aborted.addEventListener('abort', () => {
        isAborted = true;
      });
      return making.read(aborted);
    };
    const listener = listen(cache.listen(KEY, { ...wish(making), synthesise, signal: gone.signal, expectedMs }));
    making.push(part(1));
    await settle();
    gone.abort();
    expect(await listener.end).toBe('cancelled');
    expect(isAborted).toBe(!isKept);
    making.push(part(2));
    making.end();
    await settle();
    expect(cache.get(KEY)?.bytes.length).toBe(isKept ? 320 : undefined);
  });

  it('is given up when its only listener stops to read it', async () => {
    const { cache } = countedCache();
    const making = new GrowingList<Uint8Array>();
    let isAborted = false;
    const synthesise = (aborted: AbortSignal) => {
      aborted.addEventListener('abort', () => {
        isAborted = true;
      });
      return making.read();
    };
    making.push(part(1));
    for await (const bytes of cache.listen(KEY, { ...wish(making), synthesise })) {
      expect(bytes).toHaveLength(160);
      break;
    }
    expect(isAborted).toBe(true);
  });
});
