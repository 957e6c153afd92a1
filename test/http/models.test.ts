import { describe, expect, it } from 'vitest';
import { qwenFamily } from '../../src/clients/qwen/family.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { modelNames, nameOfFinals, requireModel } from '../../src/http/models.ts';
import { ClientFamilies } from '../../src/http/server/client-families.ts';

const families = new ClientFamilies([qwenFamily(new Metrics())]);
const SETTINGS = { ASR_MODEL: 'moonshine-tiny', ASR_FINAL_MODEL: '', TTS_MODEL: 'flite' } as const;
const NAMES = { settings: SETTINGS, families };

describe('requireModel', () => {
  it.each([
    ...[
      'moonshine-tiny',
      'whisper-1',
      'gpt-4o-transcribe',
      'gpt-4o-mini-transcribe-2025-12-15',
      'gpt-4o-transcribe-diarize',
      'gpt-transcribe',
    ],
    ...[
      'qwen3-asr',
      'Qwen/Qwen3-ASR-1.7B',
      'whisper',
      'openai/whisper-large-v3',
      'Systran/faster-whisper-small',
      'distil-whisper-large-v3.5',
    ],
    ...['', null, undefined],
  ])('takes %j to recognise', (id) => {
    expect(() => requireModel('recogniser', id, NAMES)).not.toThrow();
  });

  it.each([
    ...[
      'flite',
      'tts-1',
      'tts-1-hd',
      'tts-1-1106',
      'gpt-4o-mini-tts',
      'gpt-4o-mini-tts-2025-12-15',
      'qwen3-tts',
      'Qwen/Qwen3-TTS-12Hz-0.6B-Base',
    ],
    ...['', null, undefined],
  ])('takes %j to speak', (id) => {
    expect(() => requireModel('voice', id, NAMES)).not.toThrow();
  });

  it.each([
    ['recogniser', 'gpt-5', /^model: got "gpt-5", expected one of moonshine-tiny, whisper-1, gpt-4o-transcribe, /],
    ['recogniser', 'tts-1', /"tts-1"/],
    ['recogniser', 'whisper-9', /"whisper-9"/],
    ['recogniser', 'flite', /"flite"/],
    ['voice', 'gpt-5', /^model: got "gpt-5", expected one of flite, tts-1, /],
    ['voice', 'whisper-1', /"whisper-1"/],
    ['voice', `qwen3-tts-${'x'.repeat(300)}`, /^.{1,300}$/],
  ] as const)('refuses for a %s the name %s', (kind, id, message) => {
    const refused = () => requireModel(kind, id, NAMES);
    expect(refused).toThrow(expect.objectContaining({ code: 'model_not_found', param: 'model' }));
    expect(refused).toThrow(message);
  });

  it('takes each of two recognisers, a folder by its own name', () => {
    const settings = { ...SETTINGS, ASR_FINAL_MODEL: '/models/parakeet-v3' };
    for (const id of ['moonshine-tiny', 'parakeet-v3']) requireModel('recogniser', id, { settings, families });
    expect(modelNames('recogniser', { settings, families }).slice(0, 2)).toEqual(['moonshine-tiny', 'parakeet-v3']);
    expect(() => requireModel('recogniser', '/models/parakeet-v3', { settings, families })).toThrow();
  });

  it('takes each synthesizer that may be installed by its name where the settings want all of them', () => {
    const settings = { ...SETTINGS, TTS_MODEL: 'installed' };
    for (const id of ['flite', 'hibari', 'kokoro', 'tts-1']) requireModel('voice', id, { settings, families });
    expect(modelNames('voice', { settings, families }).slice(0, 2)).toEqual(['flite', 'tts-1']);
  });
});

describe('nameOfFinals', () => {
  const loaded = (name: string) => ({ name, languages: ['en'], abilities: {} as never, licence: 'MIT' });

  it('says what the settings say until a recogniser is loaded, and then what is loaded', () => {
    const none = { live: null, final: null };
    expect(nameOfFinals(SETTINGS, none)).toBe('moonshine-tiny');
    expect(nameOfFinals({ ...SETTINGS, ASR_FINAL_MODEL: '/models/larger' }, none)).toBe('larger');
    expect(nameOfFinals(SETTINGS, { live: loaded('tiny'), final: null })).toBe('tiny');
    expect(nameOfFinals(SETTINGS, { live: loaded('tiny'), final: loaded('large') })).toBe('large');
  });
});
