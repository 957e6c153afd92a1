import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinBytes } from '../../src/audio/bytes.ts';
import { decodeG711 } from '../../src/audio/g711.ts';
import { EngineError } from '../../src/engine-client/engine.ts';
import { bytesToMs, FRAME_MS, MULAW_8K, msToBytes } from '../../src/foundation/units.ts';
import { PromptMaker } from '../../src/speech/prompt-maker.ts';
import { SentenceSynthesizer, type SpokenPiece, type SynthesisOptions } from '../../src/speech/sentence-synthesizer.ts';
import { TextStream } from '../../src/speech/text-stream.ts';
import { type VoiceOptions, VoiceResolver } from '../../src/speech/voice-resolver.ts';
import { FakeClock, settle } from '../fakes/clock.ts';
import { FakeEngine } from '../fakes/engine.ts';
import { countedCache, noRecordings } from './caching.ts';

async function soundOf(piece: SpokenPiece) {
  const parts: Uint8Array[] = [];
  for await (const part of piece.parts) parts.push(part);
  const bytes = joinBytes(parts);
  return { text: piece.text, isCut: piece.isCut, bytes, durationMs: bytesToMs(bytes.length, MULAW_8K), parts };
}

function synthesizerOf(engine = new FakeEngine(new FakeClock())) {
  const counted = countedCache();
  const voices = new VoiceResolver({ engine, defaultVoice: 'rms' });
  const synthesizer = new SentenceSynthesizer({
    voices,
    prompts: new PromptMaker({ engine, cache: counted.cache, recorded: noRecordings() }),
  });
  const speak = async (text: string, voiceOptions: VoiceOptions = {}, changes: Partial<SynthesisOptions> = {}) => {
    const voice = await voices.resolve(voiceOptions);
    const pieces = [];
    for await (const piece of synthesizer.synthesize(TextStream.of(text), voice, {
      codec: MULAW_8K,
      urgency: 'speak',
      dueInMs: () => 100,
      signal: new AbortController().signal,
      ...changes,
    }))
      pieces.push(await soundOf(piece));
    return pieces.filter(({ isCut, bytes }) => !isCut || bytes.length > 0);
  };
  const say = async (text: string, voiceOptions: VoiceOptions = {}) => (await speak(text, voiceOptions))[0];
  return { engine, synthesizer, say, speak, ...counted };
}

describe('a prompt', () => {
  it('is the speech in whole frames of the codec, at its rate', async () => {
    const { engine, say } = synthesizerOf();
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
    const { engine, say } = synthesizerOf();
    expect(await say(' … ')).toMatchObject({ bytes: new Uint8Array(0), durationMs: 0 });
    expect(engine.spoken).toEqual([]);
  });

  it('is empty when the engine finds nothing to speak', async () => {
    const { engine, say } = synthesizerOf();
    engine.utter = () => new Int16Array(0);
    expect(await say('Hm')).toMatchObject({ bytes: new Uint8Array(0), durationMs: 0 });
  });

  it('is made anew where another voice stood in for the one that was wanted', async () => {
    const { engine, asked, say } = synthesizerOf();
    const speak = engine.speak.bind(engine);
    engine.speak = async (request) => ({ ...(await speak(request)), isStandIn: true });
    await say('Hello there.');
    engine.speak = speak;
    await say('Hello there.');
    await say('Hello there.');
    expect(asked).toEqual(['engine', 'engine', 'memory']);
  });

  it('is made once for a text, wherever the spaces around it are', async () => {
    const { asked, say } = synthesizerOf();
    await say('Hello there. ');
    await say('Hello there.');
    expect(asked).toEqual(['engine', 'memory']);
  });

  it('is made anew for another voice, speed, model, or way of reading', async () => {
    const { engine, asked, say } = synthesizerOf();
    await say('It costs $5.');
    await say('It costs $5.', { voice: 'slt' });
    await say('It costs $5.', { speed: 1.5 });
    await say('It costs $5.', { textNormalize: false });
    engine.voices = engine.voices.map((voice) => ({ ...voice, model: 'fake-tts-2' }));
    await say('It costs $5.');
    expect(asked).toEqual(Array(5).fill('engine'));
  });

  it('is one synthesis for two calls that want it at once', async () => {
    const { engine, say } = synthesizerOf();
    const both = Promise.all([say('Hello there.'), say('Hello there.')]);
    await settle();
    await both;
    expect(engine.spoken).toHaveLength(1);
  });
});

describe('the pieces of a text', () => {
  it('are made one by one, each with the text that it speaks', async () => {
    const { engine, speak } = synthesizerOf();
    const pieces = await speak('One is here. And here is two.');
    expect(pieces.map(({ text }) => text)).toEqual(['One is here. ', 'And here is two.']);
    expect(engine.spoken).toMatchObject([{ text: 'One is here.' }, { text: 'And here is two.' }]);
  });

  it('are each asked for by when they are needed', async () => {
    const { engine, speak } = synthesizerOf();
    let dueInMs = 0;
    await speak('One is here. And here is two.', {}, { dueInMs: () => ++dueInMs });
    expect(engine.spoken).toMatchObject([{ dueInMs: 1 }, { dueInMs: 2 }]);
  });

  it('end with the first failure, or leave out what failed twice', async () => {
    const { engine, speak } = synthesizerOf();
    engine.utter = ({ text }) => {
      if (text.startsWith('One')) throw new EngineError('model_failed', 'it broke');
      return new Int16Array(320);
    };
    await expect(speak('One is here. And here is two.')).rejects.toThrow('it broke');
    expect(engine.spoken).toHaveLength(1);
    let skipped = 0;
    const pieces = await speak('One is here. And here is two.', {}, { onSkipped: () => skipped++ });
    expect(pieces.map(({ text }) => text)).toEqual(['And here is two.']);
    expect([skipped, engine.spoken.length]).toEqual([1, 4]);
  });

  it('end without a failure when nobody wants them any more', async () => {
    const { engine, speak } = synthesizerOf();
    const gone = new AbortController();
    engine.utter = () => {
      gone.abort();
      return new Int16Array(320);
    };
    const pieces = await speak('One is here. And here is two.', {}, { signal: gone.signal });
    expect(pieces.flatMap(({ parts }) => parts)).toEqual([]);
    expect(engine.spoken).toHaveLength(1);
  });

  it('go on where the engine failed in the middle, and end there if it fails again', async () => {
    const { engine, speak } = synthesizerOf();
    engine.utter = () => Int16Array.from({ length: 16_000 }, (_, index) => 5000 * Math.sin(index / 7));
    const [whole] = await speak('One is here.');
    let failures = 0;
    const failAt = (sample: number) => (samples: Int16Array) => ({
      *[Symbol.iterator]() {
        yield sample;
        if (failures-- > 0) throw new EngineError('model_failed', 'it broke');
        yield samples.length;
      },
    });
    engine.cuts = failAt(7000) as unknown as FakeEngine['cuts'];
    failures = 1;
    const onSkipped = () => skipped++;
    let skipped = 0;
    const [mended] = await speak('Two is here.', {}, { onSkipped });
    expect(mended).toMatchObject({ isCut: false, bytes: whole?.bytes });
    failures = 2;
    const [cut] = await speak('Three is here.', {}, { onSkipped });
    expect(skipped).toBe(1);
    expect(cut?.isCut).toBe(true);
    expect(cut?.bytes).toEqual(whole?.bytes.subarray(0, cut?.bytes.length));
    expect(cut?.durationMs).toBe(420);
    failures = 1;
    await expect(speak('Four is here.')).rejects.toThrow('it broke');
  });

  it('are the same bytes at once, in stretches and from the cache', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(9000), { maxLength: 8 }),
        fc.integer({ min: 1, max: 9000 }),
        async (at, length) => {
          const { engine, speak } = synthesizerOf();
          engine.utter = () => Int16Array.from({ length }, (_, index) => 8000 * Math.sin(index / 5));
          const [whole] = await speak('Hello.');
          const { engine: other, speak: stream } = synthesizerOf();
          other.utter = engine.utter;
          other.cuts = () => at.filter((each) => each <= length).toSorted((a, b) => a - b);
          const [streamed] = await stream('Hello.');
          const [cached] = await stream('Hello.');
          expect(streamed?.bytes).toEqual(whole?.bytes);
          expect(cached?.bytes).toEqual(whole?.bytes);
          expect(other.spoken).toHaveLength(1);
        },
      ),
      { numRuns: 100 },
    );
  });
});
