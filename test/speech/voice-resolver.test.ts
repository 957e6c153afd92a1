import { describe, expect, it } from 'vitest';
import { VoiceResolver } from '../../src/speech/voice-resolver.ts';
import { FakeClock } from '../fakes/clock.ts';
import { FakeEngine } from '../fakes/engine.ts';
import { FAKE_VOICE } from '../fakes/voices.ts';

function resolverOf(engine: FakeEngine): VoiceResolver {
  return new VoiceResolver({ engine, defaultVoice: 'rms' });
}

describe('the voice', () => {
  const engine = new FakeEngine(new FakeClock());
  engine.voices = [
    { ...FAKE_VOICE, name: 'rms', language: 'en-US', rateHz: 16_000 },
    { ...FAKE_VOICE, name: 'awb', language: 'en-GB', rateHz: 16_000 },
    { ...FAKE_VOICE, name: 'espeak:de', language: 'de', rateHz: 22_050 },
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
  ])('for %j is %s, written out: %s', async (voiceOptions, voice, normalises) => {
    expect(await resolverOf(engine).resolve(voiceOptions)).toMatchObject({ voice: { name: voice }, normalises });
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
  const resolver = resolverOf(engine);
  expect(() => resolver.check({ voice: 'Joanna', voiceIsWish: true })).not.toThrow();
  expect(await resolver.resolve({ voice: 'Joanna', voiceIsWish: true })).toMatchObject({
    voice: { name: 'rms' },
    missingVoice: 'Joanna',
  });
});
