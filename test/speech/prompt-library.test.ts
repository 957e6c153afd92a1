import { describe, expect, it } from 'vitest';
import { PromptLibrary } from '../../src/speech/prompt-library.ts';
import { countedCache, keyOf, noRecordings, whole } from './caching.ts';

const { text, voice, model, speed, codec } = keyOf('Hello there.');
const ABOUT = { text, voice, model, speed, codec };
const PROMPT = { bytes: new Uint8Array(1600).fill(7), durationMs: 200, about: ABOUT };

async function library(...texts: string[]) {
  const { cache } = countedCache();
  for (const text of texts) await whole(cache, keyOf(text), async () => PROMPT);
  return {
    cache,
    library: new PromptLibrary({ calls: cache, requests: countedCache().cache, recorded: noRecordings() }),
  };
}

describe('the prompts for people', () => {
  it('are described by what they say', async () => {
    const { library: prompts } = await library('Hello there.');
    const [listed] = prompts.list();
    expect(listed).toMatchObject({ source: 'calls', bytes: 1600 });
    expect(listed === undefined ? null : await prompts.describe(listed)).toMatchObject({
      text: 'Hello there.',
      voice: 'rms',
      speed: 1,
      durationMs: 200,
    });
  });

  it('sound as they do in a call', async () => {
    const { library: prompts } = await library('Hello there.');
    const sound = await prompts.sound(prompts.list()[0]?.id ?? '');
    expect([sound?.rateHz, sound?.samples.length]).toEqual([8000, 1600]);
    expect(await prompts.sound('0'.repeat(64))).toBeNull();
  });
});
