import { expect, it } from 'vitest';
import { voiceCheck } from '../../src/speech/voice-check.ts';
import { FAKE_VOICE } from '../fakes/voices.ts';
import { readSettings } from '../helpers/settings.ts';

const VOICES = [
  { ...FAKE_VOICE, name: 'rms', language: 'en-US', rateHz: 16_000 },
  { ...FAKE_VOICE, name: 'slt', language: 'en-US', rateHz: 16_000 },
];
const GERMAN = { ...FAKE_VOICE, name: 'espeak:de', language: 'de', rateHz: 22_050 };

interface Messages {
  readonly refused: string[];
  readonly errors: string[];
  readonly warnings: string[];
}

/** The messages when engines with `voices` are ready, twice. */
function messagesOf(environment: Record<string, string>, voices = VOICES): Messages {
  const messages: Messages = { refused: [], errors: [], warnings: [] };
  const check = voiceCheck(readSettings(environment), {
    voices: () => voices,
    onRefused: (message) => messages.refused.push(message),
    log: {
      error: ((message: string) => messages.errors.push(message)) as never,
      warn: ((message: string) => messages.warnings.push(message)) as never,
    },
  });
  check();
  check();
  return messages;
}

it.each([
  [{}, VOICES],
  [{ DEFAULT_VOICE: 'slt' }, VOICES],
  [{ DEFAULT_VOICE: 'nova' }, VOICES],
  [{ DEFAULT_VOICE: 'espeak:de' }, [...VOICES, GERMAN]],
])('a voice that exists causes no message: %j', (environment, voices) => {
  expect(messagesOf(environment, voices)).toEqual({ refused: [], errors: [], warnings: [] });
});

it('a voice that is too slow for calls is warned of, once, with what helps', () => {
  const slow = { ...FAKE_VOICE, name: 'kokoro:af_heart', cost: 0.95 };
  const { refused, errors, warnings } = messagesOf({ DEFAULT_VOICE: 'kokoro:af_heart' }, [...VOICES, slow]);
  expect(warnings).toEqual([expect.stringMatching(/^DEFAULT_VOICE: kokoro:af_heart takes 0.95 s .*PROMPTS_FILE/)]);
  expect([refused, errors]).toEqual([[], []]);
  expect(messagesOf({}, [...VOICES, slow]).warnings).toEqual([]);
});

it('a missing voice ends the start, once, with the list of the voices', () => {
  const { refused, errors } = messagesOf({ DEFAULT_VOICE: 'nosuch' });
  expect(refused).toEqual([expect.stringMatching(/^DEFAULT_VOICE: got "nosuch", expected one of rms, slt/)]);
  expect(errors).toEqual([]);
});

it('the message for a voice of espeak-ng says whether that is installed', () => {
  expect(messagesOf({ DEFAULT_VOICE: 'espeak:de' }).refused).toEqual([
    expect.stringMatching(/espeak-ng is not installed$/),
  ]);
  expect(messagesOf({ DEFAULT_VOICE: 'espeak:xx' }, [...VOICES, GERMAN]).refused).toEqual([
    expect.not.stringContaining('installed'),
  ]);
});

it('a map to a missing voice ends the start, too', () => {
  expect(messagesOf({ VOICE_MAP: 'Joanna=slt' })).toEqual({ refused: [], errors: [], warnings: [] });
  expect(messagesOf({ VOICE_MAP: 'Joanna=nix' }).refused).toEqual([
    expect.stringMatching(/^VOICE_MAP: got "nix" for "joanna", expected one of rms, slt/),
  ]);
});

it('a gateway that loads its models at the first call keeps that call, and the log says what is wrong', () => {
  const { refused, errors } = messagesOf({ DEFAULT_VOICE: 'nosuch', ENGINE_PRELOAD: 'false' });
  expect(refused).toEqual([]);
  expect(errors).toEqual([expect.stringMatching(/^DEFAULT_VOICE: got "nosuch".*are not spoken until/)]);
});
