import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkJob, checkSettings, isMessage } from '../../engine/checks.ts';
import { MODEL_TABLE } from '../../engine/models/model-table.ts';
import { Refusal } from '../../engine/refusal.ts';
import { FAKE_VOICE } from '../fakes/voices.ts';
import { TONE } from './settings.ts';

const LIMITS = {
  languages: ['en', 'de'],
  vocabularySize: 100,
  vadStateLength: 4,
  voices: [FAKE_VOICE],
  decidesTurns: true,
};
const TRANSCRIBE = {
  kind: 'transcribe',
  id: 1,
  urgency: 'final',
  dueInMs: 100,
  samples: new Int16Array(16_000),
  draft: [1, 99],
};
const KNOWN = {
  ...TRANSCRIBE,
  language: 'de',
  hotWords: ['Anna'],
  expectedWords: ['yes', 'no'],
  context: 'A clinic.',
  draftText: 'Anna Meier',
  stream: 7,
};
const TRACK = { samples: new Int16Array(1024), state: new Float32Array(4) };
const DETECT = {
  kind: 'detect',
  id: 2,
  urgency: 'detect',
  dueInMs: 100,
  tracks: [TRACK, { samples: new Int16Array(0), state: null }],
};

const SPEAK = {
  kind: 'speak',
  id: 3,
  urgency: 'speak',
  dueInMs: 100,
  text: 'Hello.',
  voice: 'rms',
  speed: 1,
  streamed: true,
};

const TURN = { kind: 'turn', id: 4, urgency: 'turn', dueInMs: 200, samples: new Int16Array(8 * 16_000) };

describe('checkSettings', () => {
  it('takes every setting as it is', () => {
    expect(checkSettings(TONE, MODEL_TABLE)).toEqual(TONE);
  });

  it('names the setting of the recogniser that it is started for', () => {
    const settings = { ...TONE, role: 'final', asrModel: 'models/whisper' };
    expect(() => checkSettings(settings, MODEL_TABLE)).toThrow(/^ASR_FINAL_MODEL: got "models\/whisper"/);
  });

  it.each([
    ['role', 'both', 'role: got "both", expected one of live, final'],
    [
      'asrModel',
      'models/whisper',
      'ASR_MODEL: got "models/whisper", expected moonshine-tiny, tone, the name of an installed model, or the path ' +
        'of a folder',
    ],
    ['vadModel', undefined, 'VAD_MODEL: got undefined, expected one of silero, tone'],
    ['ttsModel', 'piper', 'TTS_MODEL: got "piper", expected one of installed, flite, tone'],
    ['turnModel', 'guess', 'TURN_MODEL: got "guess", expected one of auto, off, smart-turn, tone'],
    ['executionProvider', 'rocm', 'executionProvider: got "rocm", expected one of cpu, cuda, auto'],
    ['cudaDevice', -1, 'cudaDevice: got -1, expected a whole number from 0 to 63'],
    ['threads', 1.5, 'threads: got 1.5, expected a whole number from 1 to 64'],
    ['modelGraphs', 'pruned', 'modelGraphs: got "pruned", expected one of rewritten, shipped'],
    ['modelCacheDir', 'cache', 'modelCacheDir: got "cache", expected an absolute path'],
    ['modelsDir', 'models', 'modelsDir: got "models", expected an absolute path'],
    ['lexiconFile', 'words.txt', 'lexiconFile: got "words.txt", expected an absolute path'],
    ['decodeRunTokens', 0, 'decodeRunTokens: got 0, expected a whole number from 1 to 512'],
  ])('refuses a wrong %s by name', (name, value, message) => {
    expect(() => checkSettings({ ...TONE, [name]: value }, MODEL_TABLE)).toThrow(new Refusal('bad_settings', message));
  });

  it('refuses settings that are no object', () => {
    expect(() => checkSettings('tone', MODEL_TABLE)).toThrow(Refusal);
  });
});

describe('checkJob', () => {
  it.each([TRANSCRIBE, KNOWN, DETECT, SPEAK, TURN, { ...SPEAK, urgency: 'batch', speed: 0.25 }])(
    'takes a $kind job',
    (job) => {
      expect(checkJob(job, LIMITS)).toBe(job);
    },
  );

  it.each([
    ['an unknown kind', { ...TRANSCRIBE, kind: 'sing' }, 'kind: got "sing"'],
    ['a deadline that is no number', { ...TRANSCRIBE, dueInMs: Number.NaN }, 'dueInMs: got NaN'],
    [
      'the urgency of another kind',
      { ...TRANSCRIBE, urgency: 'detect' },
      'urgency: got "detect", expected final, eager, partial, batch',
    ],
    ['the urgency of another kind', { ...DETECT, urgency: 'final' }, 'urgency: got "final", expected detect'],
    ['the urgency of another kind', { ...SPEAK, urgency: 'final' }, 'urgency: got "final", expected speak, batch'],
    ['a text that is no string', { ...SPEAK, text: 7 }, 'text: got 7, expected a string'],
    ['too long a text', { ...SPEAK, text: 'x'.repeat(1001) }, 'text: got 1001 characters, expected at most 1000'],
    ['a voice that is not there', { ...SPEAK, voice: 'slt' }, 'voice: got "slt", expected one of rms'],
    ['too low a speed', { ...SPEAK, speed: 0.2 }, 'speed: got 0.2, expected a number from 0.25 to 4'],
    ['a sound that may be streamed', { ...SPEAK, streamed: 1 }, 'streamed: got 1, expected a boolean'],
    ['a speed that is no number', { ...SPEAK, speed: Number.NaN }, 'speed: got NaN'],
    [
      'floats',
      { ...TRANSCRIBE, samples: new Float32Array(3) },
      'samples: got a Float32Array of 3, expected an Int16Array',
    ],
    ['too long a stretch', { ...TRANSCRIBE, samples: new Int16Array(31 * 16_000 + 1) }, 'samples: got 496001'],
    ['a draft that is no array', { ...TRANSCRIBE, draft: 'hello' }, 'draft: expected an array'],
    [
      'too long a draft',
      { ...TRANSCRIBE, draft: Array.from({ length: 513 }, () => 1) },
      'draft: expected an array of at most 512',
    ],
    [
      'a token beyond the vocabulary',
      { ...TRANSCRIBE, draft: [1, 100] },
      'draft: got 100, expected tokens from 0 to 99',
    ],
    ['a token that is no whole number', { ...TRANSCRIBE, draft: [0.5] }, 'draft: got 0.5'],
    ['a hole in the draft', { ...TRANSCRIBE, draft: [1, undefined, 2] }, 'draft: got undefined'],
    [
      'a language of another recogniser',
      { ...TRANSCRIBE, language: 'fr' },
      'language: got "fr", expected one of en, de',
    ],
    [
      'too many hot words',
      { ...TRANSCRIBE, hotWords: Array.from({ length: 101 }, () => 'x') },
      'hotWords: expected at most 100 strings of at most 64 characters',
    ],
    ['what is neither said to go on nor to end', { ...TRANSCRIBE, goesOn: 1 }, 'goesOn: got 1, expected a boolean'],
    ['too long a context', { ...TRANSCRIBE, context: 'x'.repeat(2001) }, 'context: expected a string of at most 2000'],
    ['a context that is no text', { ...TRANSCRIBE, context: 7 }, 'context: expected a string of at most 2000'],
    ['too long a hot word', { ...TRANSCRIBE, hotWords: ['x'.repeat(65)] }, 'hotWords: expected at most 100'],
    [
      'too many expected words',
      { ...TRANSCRIBE, expectedWords: Array.from({ length: 501 }, () => 'x') },
      'expectedWords: expected at most 500 strings of 64 characters',
    ],
    ['too long an expected word', { ...TRANSCRIBE, expectedWords: ['x'.repeat(65)] }, 'expectedWords: expected'],
    ['hot words that are no array', { ...TRANSCRIBE, hotWords: 'Anna' }, 'hotWords: expected'],
    [
      'too long a draft text',
      { ...TRANSCRIBE, draftText: 'x'.repeat(2001) },
      'draftText: expected a string of at most',
    ],
    ['a stream that is no number', { ...TRANSCRIBE, stream: 'a' }, 'stream: got "a", expected a whole number'],
    ['the urgency of another kind', { ...TURN, urgency: 'eager' }, 'urgency: got "eager", expected turn'],
    [
      'a turn without sound',
      { ...TURN, samples: new Int16Array(0) },
      'samples: got 0, expected from 1 to 128000 (8 s)',
    ],
    ['too long a turn', { ...TURN, samples: new Int16Array(128_001) }, 'samples: got 128001'],
    ['a turn of floats', { ...TURN, samples: [1] }, 'samples: got an object (Array), expected an Int16Array'],
    ['tracks that are no array', { ...DETECT, tracks: {} }, 'tracks: expected an array'],
    ['a track that is no object', { ...DETECT, tracks: [TRACK, 5] }, 'tracks[1]: expected an object'],
    [
      'half a window',
      { ...DETECT, tracks: [{ ...TRACK, samples: new Int16Array(700) }] },
      'tracks[0]: samples: got 700, expected a multiple',
    ],
    [
      'a state of another model',
      { ...DETECT, tracks: [{ ...TRACK, state: new Float32Array(5) }] },
      'tracks[0]: state: got a Float32Array of 5',
    ],
  ])('refuses %s', (_, message, problem) => {
    expect(checkJob(message, LIMITS)).toContain(problem);
  });

  it('refuses a turn where there is no turn detector', () => {
    expect(checkJob(TURN, { ...LIMITS, decidesTurns: false })).toBe('kind: got "turn", and there is no turn detector');
  });

  it('answers anything at all with a job or words', () => {
    const kinds = fc.constantFrom('transcribe', 'detect', 'speak', 'turn', 'configure', null, 7);
    const message = fc.record({
      kind: kinds,
      urgency: fc.anything(),
      dueInMs: fc.anything(),
      samples: fc.anything(),
      draft: fc.anything(),
      text: fc.anything(),
      voice: fc.anything(),
      speed: fc.anything(),
    });
    const withTracks = fc.tuple(message, fc.anything()).map(([fields, tracks]) => ({ ...fields, tracks }));
    fc.assert(
      fc.property(
        withTracks,
        (value) => isMessage(value) && ['string', 'object'].includes(typeof checkJob(value, LIMITS)),
      ),
    );
  });
});
