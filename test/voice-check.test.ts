import { expect, it } from 'vitest';
import { readSettings } from '../src/foundation/settings/config.ts';
import { voiceCheck } from '../src/voice-check.ts';

const VOICES = [
  { name: 'rms', language: 'en-US', rateHz: 16_000 },
  { name: 'slt', language: 'en-US', rateHz: 16_000 },
];
const GERMAN = { name: 'espeak:de', language: 'de', rateHz: 22_050 };

/** What is said when engines with `voices` are ready, twice. */
function sayOf(environment: Record<string, string>, voices = VOICES): { refused: string[]; errors: string[] } {
  const said = { refused: [] as string[], errors: [] as string[] };
  const check = voiceCheck(readSettings(environment), {
    voices: () => voices,
    onRefused: (message) => said.refused.push(message),
    log: { error: ((message: string) => said.errors.push(message)) as never },
  });
  check();
  check();
  return said;
}

it.each([
  [{}, VOICES],
  [{ DEFAULT_VOICE: 'slt' }, VOICES],
  [{ DEFAULT_VOICE: 'nova' }, VOICES],
  [{ DEFAULT_VOICE: 'espeak:de' }, [...VOICES, GERMAN]],
])('nothing is said of a voice that is there: %j', (environment, voices) => {
  expect(sayOf(environment, voices)).toEqual({ refused: [], errors: [] });
});

it('a voice that is not there ends the start, once, with the list of those that are', () => {
  const { refused, errors } = sayOf({ DEFAULT_VOICE: 'nosuch' });
  expect(refused).toEqual([expect.stringMatching(/^DEFAULT_VOICE: got "nosuch", expected one of rms, slt/)]);
  expect(errors).toEqual([]);
});

it('says that espeak-ng is missing where a voice of it was wanted', () => {
  expect(sayOf({ DEFAULT_VOICE: 'espeak:de' }).refused).toEqual([
    expect.stringMatching(/espeak-ng is not installed here$/),
  ]);
  expect(sayOf({ DEFAULT_VOICE: 'espeak:xx' }, [...VOICES, GERMAN]).refused).toEqual([
    expect.not.stringContaining('installed'),
  ]);
});

it('a map to a voice that is not there ends the start, too', () => {
  expect(sayOf({ VOICE_MAP: 'Joanna=slt' })).toEqual({ refused: [], errors: [] });
  expect(sayOf({ VOICE_MAP: 'Joanna=nix' }).refused).toEqual([
    expect.stringMatching(/^VOICE_MAP: got "nix" for "joanna", expected one of rms, slt/),
  ]);
});

it('a gateway that loads its models at the first call does not cut that call: the log says what is wrong', () => {
  const { refused, errors } = sayOf({ DEFAULT_VOICE: 'nosuch', ENGINE_PRELOAD: 'false' });
  expect(refused).toEqual([]);
  expect(errors).toEqual([expect.stringMatching(/^DEFAULT_VOICE: got "nosuch".*is not said until/)]);
});
