import { describe, expect, it } from 'vitest';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { findVoiceMapProblem, readVoiceMap } from '../../src/speech/voice-map.ts';
import { findVoice, resolveVoice } from '../../src/speech/voices.ts';
import { FAKE_VOICE } from '../fakes/voices.ts';

const voice = (name: string, language = 'en-US') => ({ ...FAKE_VOICE, name, language });
const VOICES = [voice('rms'), voice('slt'), voice('espeak:de', 'de')];
const MAP = readVoiceMap(
  readSettings({
    VOICE_MAP: 'en-US-Journey-O=slt, Charlie-flash_v2_5 = RMS,de-DE-Wavenet-B=espeak:de,a=b=nova,rms=slt',
  }).VOICE_MAP,
);

describe('names of other platforms', () => {
  it.each([
    ['en-US-Journey-O', 'slt'],
    ['EN-us-journey-o', 'slt'],
    ['charlie-flash_v2_5', 'rms'],
    ['de-de-wavenet-b', 'espeak:de'],
    ['a=b', 'slt'],
    ['Nova', 'slt'],
    ['ESPEAK:DE', 'espeak:de'],
  ])('%s is spoken by %s', (name, ours) => {
    expect(resolveVoice(name, VOICES, 'rms', MAP).name).toBe(ours);
  });

  it('never take a name of ours away', () => {
    expect(findVoice('rms', VOICES, MAP)?.name).toBe('rms');
  });

  it('are refused like any other where they are not in the map', () => {
    expect(findVoice('Joanna', VOICES, MAP)).toBeUndefined();
    expect(() => resolveVoice('en-US-Journey-O', VOICES, 'rms')).toThrow('voice: got "en-US-Journey-O"');
  });

  it('must stand for voices that are there', () => {
    expect(findVoiceMapProblem(MAP, VOICES)).toBeNull();
    expect(findVoiceMapProblem(readVoiceMap(['Joanna=nosuch']), VOICES)).toBe(
      'VOICE_MAP: got "nosuch" for "joanna", expected one of rms, slt, espeak:de',
    );
  });
});

describe('VOICE_MAP', () => {
  it.each(['Joanna', '=slt', 'Joanna=', 'Joanna=slt,Matthew', 'Joanna=slt,JOANNA=rms', 'Joanna=s lt'])(
    'is not "%s"',
    (text) => {
      expect(() => readSettings({ VOICE_MAP: text })).toThrow(/^VOICE_MAP: got .*expected pairs such as/);
    },
  );

  it('is empty unless set', () => {
    expect(readVoiceMap(readSettings({}).VOICE_MAP).size).toBe(0);
  });
});
