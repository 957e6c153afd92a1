import { describe, expect, it } from 'vitest';
import { decodeG711 } from '../../src/audio/g711.ts';
import { FRAME_MS, MULAW_8K, msToBytes } from '../../src/foundation/units.ts';
import { Prompter } from '../../src/speech/prompter.ts';
import { FakeClock, settle } from '../fakes/clock.ts';
import { FakeEngine } from '../fakes/engine.ts';
import { countedCache } from './caching.ts';

function prompterOf(engine = new FakeEngine(new FakeClock())) {
  const counted = countedCache();
  const prompter = new Prompter({ engine, cache: counted.cache, defaultVoice: 'rms' });
  const order = { codec: MULAW_8K, urgency: 'speak', dueInMs: 100, signal: new AbortController().signal } as const;
  const say = async (text: string, style: Parameters<Prompter['settle']>[0] = {}) => {
    const manner = await prompter.settle(style);
    const prompts = prompter.pieces(text, manner).map((piece) => prompter.make(piece, manner, order));
    return (await Promise.all(prompts))[0];
  };
  return { engine, prompter, say, ...counted };
}

describe('a prompt', () => {
  it('is the speech in whole frames of the wire, at its rate', async () => {
    const { engine, say } = prompterOf();
    engine.utter = () => new Int16Array(16_000 * 2.005).fill(1000);
    const prompt = await say('Hello there.');
    expect(prompt?.durationMs).toBe(2020);
    expect(prompt?.bytes.length).toBe(msToBytes(2020, MULAW_8K));
    const samples = decodeG711(prompt?.bytes ?? new Uint8Array(0), MULAW_8K);
    for (const sample of samples.subarray(100, 15_900)) expect(Math.abs(sample - 1000)).toBeLessThan(50);
    for (const sample of samples.subarray(16_100)) expect(Math.abs(sample)).toBeLessThan(10);
    expect(prompt?.bytes.length).toBe(
      Math.ceil((prompt?.bytes.length ?? 1) / msToBytes(FRAME_MS, MULAW_8K)) * msToBytes(FRAME_MS, MULAW_8K),
    );
  });

  it('is empty, and not asked for, when nothing in it can be spoken', async () => {
    const { engine, say } = prompterOf();
    expect(await say(' … ')).toEqual({ bytes: new Uint8Array(0), durationMs: 0 });
    expect(engine.spoken).toEqual([]);
  });

  it('is empty when the engine finds nothing to speak', async () => {
    const { engine, say } = prompterOf();
    engine.utter = () => new Int16Array(0);
    expect(await say('Hm')).toEqual({ bytes: new Uint8Array(0), durationMs: 0 });
  });

  it('is made once for a text, wherever the spaces around it are', async () => {
    const { asked, say } = prompterOf();
    await say('Hello there. ');
    await say('Hello there.');
    expect(asked).toEqual(['engine', 'memory']);
  });

  it('is made anew for another voice, speed, model, or way of reading', async () => {
    const { engine, asked, say } = prompterOf();
    await say('It costs $5.');
    await say('It costs $5.', { voice: 'slt' });
    await say('It costs $5.', { speed: 1.5 });
    await say('It costs $5.', { textNormalize: false });
    engine.ttsModel = 'fake-tts-2';
    await say('It costs $5.');
    expect(asked).toEqual(Array(5).fill('engine'));
  });

  it('is one synthesis for two calls that want it at once', async () => {
    const { engine, say } = prompterOf();
    const both = Promise.all([say('Hello there.'), say('Hello there.')]);
    await settle();
    await both;
    expect(engine.spoken).toHaveLength(1);
  });
});

describe('the voice', () => {
  const engine = new FakeEngine(new FakeClock());
  engine.voices = [
    { name: 'rms', language: 'en-US', rateHz: 16_000 },
    { name: 'awb', language: 'en-GB', rateHz: 16_000 },
    { name: 'espeak:de', language: 'de', rateHz: 22_050 },
  ];

  it.each([
    [{}, 'rms', true],
    [{ lang: 'en-US' }, 'rms', true],
    [{ lang: 'en-GB' }, 'rms', true],
    [{ lang: 'de-AT' }, 'espeak:de', false],
    [{ lang: 'sv-SE' }, 'rms', true],
    [{ lang: 'de-DE', voice: 'awb' }, 'awb', true],
    [{ textNormalize: false }, 'rms', false],
    [{ voice: 'Charlie-flash_v2_5', voiceIsWish: true }, 'rms', true],
    [{ voice: 'de-DE-Wavenet-B', voiceIsWish: true, lang: 'de-DE' }, 'espeak:de', false],
    [{ voice: 'awb', voiceIsWish: true }, 'awb', true],
    [{ voice: 'awb', voiceIsWish: true, lang: 'en-US' }, 'awb', true],
    [{ voice: 'awb', voiceIsWish: true, lang: 'de-DE' }, 'espeak:de', false],
    [{ voice: 'awb', voiceIsWish: true, lang: 'sv-SE' }, 'awb', true],
  ])('for %j is %s, written out: %s', async (style, voice, normalises) => {
    expect(await prompterOf(engine).prompter.settle(style)).toMatchObject({ voice: { name: voice }, normalises });
  });
});

it('a voice that is not there is known as missing also when the engine has yet to say which there are', async () => {
  const engine = new FakeEngine(new FakeClock());
  const { voices } = engine;
  engine.voices = [];
  engine.detect = () => {
    engine.voices = voices;
    return Promise.resolve({ probabilities: new Float32Array(1), state: new Float32Array(0) });
  };
  const { prompter } = prompterOf(engine);
  expect(() => prompter.check({ voice: 'Joanna', voiceIsWish: true })).not.toThrow();
  expect(await prompter.settle({ voice: 'Joanna', voiceIsWish: true })).toMatchObject({
    voice: { name: 'rms' },
    missingVoice: 'Joanna',
  });
});
