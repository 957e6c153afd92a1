import { describe, expect, it } from 'vitest';
import { TrunklineError } from '../../src/foundation/errors.ts';
import { listVoiceNames, resolveVoice } from '../../src/speech/voices.ts';
import { FAKE_VOICE } from '../fakes/voices.ts';

const voice = (name: string, language = 'en-US') => ({ ...FAKE_VOICE, name, language });
const VOICES = [voice('rms'), voice('slt'), voice('awb', 'en-GB'), voice('espeak:de', 'de')];
const OPENAI = 'alloy ash ballad coral echo fable onyx nova sage shimmer verse marin cedar'.split(' ');

describe('resolveVoice', () => {
  it('finds a voice by its name, and the usual one without a name', () => {
    expect(resolveVoice('espeak:de', VOICES, 'rms')).toEqual(voice('espeak:de', 'de'));
    expect(resolveVoice(undefined, VOICES, 'slt').name).toBe('slt');
  });

  it('finds the first voice where neither a text nor a setting names one', () => {
    expect(resolveVoice(undefined, VOICES, '').name).toBe('rms');
    expect(() => resolveVoice('', VOICES, '')).toThrow('voice: got ""');
  });

  it.each(OPENAI)("has a voice for OpenAI's %s", (name) => {
    expect(VOICES).toContainEqual(resolveVoice(name, VOICES, 'rms'));
  });

  it.each([
    ...[
      ['vivian', 'slt'],
      ['serena', 'slt'],
      ['ono_anna', 'slt'],
      ['sohee', 'slt'],
      ['Uncle Fu', 'rms'],
      ['dylan', 'awb'],
    ],
    ...[
      ['eric', 'rms'],
      ['RYAN', 'rms'],
      ['aiden', 'rms'],
    ],
  ] as const)("has a voice for the Qwen3-TTS server's %s", (name, ours) => {
    expect(resolveVoice(name, VOICES, 'espeak:de').name).toBe(ours);
  });

  it('means the best voice of its kind, and that of flite where there is no better one', () => {
    const named = (name: string, voices: readonly string[]) =>
      resolveVoice(
        name,
        ['rms', 'slt', 'awb', ...voices].map((each) => voice(each)),
        'rms',
      ).name;
    const names = ['alloy', 'nova', 'Vivian', 'onyx', 'uncle fu', 'fable', 'dylan'];
    expect(names.map((name) => named(name, ['hibari:heart']))).toEqual([
      'hibari:heart',
      'hibari:heart',
      'hibari:heart',
      'rms',
      'rms',
      'awb',
      'awb',
    ]);
    const all = ['hibari:heart', 'hibari:emma', 'hibari:fenrir', 'hibari:fable'];
    expect(names.map((name) => named(name, all)).slice(3)).toEqual([
      'hibari:fenrir',
      'hibari:fenrir',
      'hibari:fable',
      'hibari:fable',
    ]);
  });

  it('leaves names of ours and of VOICE_MAP as they are, whatever better voices there are', () => {
    const voices = [voice('hibari:heart'), voice('slt'), voice('rms')];
    const map = new Map([['alloy', 'rms']]);
    expect(resolveVoice('slt', voices, '').name).toBe('slt');
    expect(resolveVoice('alloy', voices, '', map).name).toBe('rms');
  });

  it('takes a voice of the engine before one of OpenAI with the same name', () => {
    expect(resolveVoice('nova', [...VOICES, voice('nova')], 'rms').name).toBe('nova');
  });

  it('refuses an unknown name and says which there are', () => {
    const refused = () => resolveVoice('robot', VOICES, 'rms');
    expect(refused).toThrow(TrunklineError);
    expect(refused).toThrow('voice: got "robot", expected one of rms, slt, awb, espeak:de, OpenAI\'s alloy');
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

describe('listVoiceNames', () => {
  it('lists each name once, and none for which there is no voice', () => {
    const names = listVoiceNames([voice('rms'), voice('nova')]).map(({ name, voice: { name: ours } }) => [name, ours]);
    expect(names).toEqual(
      expect.arrayContaining([
        ...[
          ['rms', 'rms'],
          ['nova', 'nova'],
          ['onyx', 'rms'],
          ['uncle_fu', 'rms'],
        ],
      ]),
    );
    expect(new Set(names.map(([name]) => name)).size).toBe(names.length);
    expect(names.map(([name]) => name)).not.toEqual(expect.arrayContaining(['alloy']));
    expect(names.map(([, ours]) => ours)).not.toContain('slt');
    expect(listVoiceNames([])).toEqual([]);
  });
});
