import { describe, expect, it } from 'vitest';
import { MULAW_8K } from '../../src/foundation/units.ts';
import { PromptMaker } from '../../src/speech/prompt-maker.ts';
import { SentenceSynthesizer } from '../../src/speech/sentence-synthesizer.ts';
import { isTooSlowForCalls } from '../../src/speech/slow-voices.ts';
import { TextStream } from '../../src/speech/text-stream.ts';
import { VoiceResolver } from '../../src/speech/voice-resolver.ts';
import { FakeClock } from '../fakes/clock.ts';
import { FakeEngine } from '../fakes/engine.ts';
import { FAKE_VOICE } from '../fakes/voices.ts';
import { countedCache, noRecordings } from './caching.ts';

const SLOW = { ...FAKE_VOICE, name: 'kokoro:af_heart', cost: 0.95 };
const TEXT = 'It costs $5. Please hold.';
const REFUSAL = /^voice: kokoro:af_heart takes 0.95 s of a core .* put this text into PROMPTS_FILE, make it over HTTP/;

function open() {
  const engine = new FakeEngine(new FakeClock());
  engine.voices = [FAKE_VOICE, SLOW];
  const voices = new VoiceResolver({ engine, defaultVoice: '' });
  const prompts = new PromptMaker({ engine, cache: countedCache().cache, recorded: noRecordings() });
  const synthesizer = new SentenceSynthesizer({ voices, prompts });
  const speak = async (urgency: 'speak' | 'batch', voice = SLOW.name): Promise<number> => {
    let bytes = 0;
    const options = { codec: MULAW_8K, urgency, dueInMs: () => 0, signal: new AbortController().signal };
    for await (const piece of synthesizer.synthesize(TextStream.of(TEXT), await voices.resolve({ voice }), options))
      for await (const part of piece.parts) bytes += part.length;
    return bytes;
  };
  return { engine, synthesizer, speak, check: (voice?: string) => check(synthesizer, voice) };
}

function check(synthesizer: SentenceSynthesizer, voice = SLOW.name): void {
  synthesizer.checkLive(TEXT, { voice }, MULAW_8K);
}

describe('a voice that is too slow for calls', () => {
  it('is one that takes more than half a core', () => {
    expect([0.02, 0.5, 0.51, null].map((cost) => isTooSlowForCalls({ cost }))).toEqual([false, false, true, false]);
  });

  it('is refused for a text that would have to be made, with its cost and what helps', async () => {
    const { engine, speak, check } = open();
    expect(() => check()).toThrow(REFUSAL);
    await expect(speak('speak')).rejects.toThrow(REFUSAL);
    expect(engine.spoken).toEqual([]);
    expect(() => check('rms')).not.toThrow();
  });

  it('speaks over HTTP, and in calls what was made before', async () => {
    const { engine, speak, check } = open();
    const made = await speak('batch');
    expect(made).toBeGreaterThan(0);
    expect(() => check()).not.toThrow();
    expect(await speak('speak')).toBe(made);
    expect(engine.spoken).toHaveLength(2);
  });

  it('is not judged before an engine has named its voices', () => {
    const { engine, check } = open();
    engine.voices = [];
    expect(() => check()).not.toThrow();
  });
});
