import { describe, expect, it } from 'vitest';
import { TrunklineError } from '../../src/errors.ts';
import { resolveVoice } from '../../src/speech/voices.ts';

const voice = (name: string, language = 'en-US') => ({ name, language, rateHz: 16_000 });
const VOICES = [voice('rms'), voice('slt'), voice('awb', 'en-GB'), voice('espeak:de', 'de')];
const OPENAI = 'alloy ash ballad coral echo fable onyx nova sage shimmer verse marin cedar'.split(' ');

describe('resolveVoice', () => {
  it('finds a voice by its name, and the usual one without a name', () => {
    expect(resolveVoice('espeak:de', VOICES, 'rms')).toEqual(voice('espeak:de', 'de'));
    expect(resolveVoice(undefined, VOICES, 'slt').name).toBe('slt');
  });

  it.each(OPENAI)("has a voice for OpenAI's %s", (name) => {
    expect(VOICES).toContainEqual(resolveVoice(name, VOICES, 'rms'));
  });

  it('takes a voice of the engine before one of OpenAI with the same name', () => {
    expect(resolveVoice('nova', [...VOICES, voice('nova')], 'rms').name).toBe('nova');
  });

  it('refuses an unknown name and says which there are', () => {
    const refused = () => resolveVoice('robot', VOICES, 'rms');
    expect(refused).toThrow(TrunklineError);
    expect(refused).toThrow('voice: got "robot", expected one of rms, slt, awb, espeak:de, or OpenAI\'s alloy');
  });

  it('refuses an unknown usual voice, too', () => {
    expect(() => resolveVoice(undefined, VOICES, 'rns')).toThrow('voice: got "rns"');
  });

  it('keeps the message short, however many voices there are and however long the name is', () => {
    const many = Array.from({ length: 200 }, (_, n) => voice(`espeak:${n}`));
    expect(() => resolveVoice('x'.repeat(1000), many, 'rms')).toThrow(/^.{1,500}$/);
    expect(() => resolveVoice('x', many, 'rms')).toThrow('and 188 more');
  });

  it('says so when no engine has been ready', () => {
    expect(() => resolveVoice('rms', [], 'rms')).toThrow('no engine has been ready yet');
  });
});
