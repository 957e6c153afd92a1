import { describe, expect, it } from 'vitest';
import type { FromEngine } from '../../../engine/contract.ts';
import { EngineHost } from '../../../engine/host.ts';
import { MODEL_TABLE, type ModelTable } from '../../../engine/models/model-table.ts';
import { systemTime } from '../../../engine/time.ts';
import { ADDED_MODELS, ADDED_NAMES } from '../../fakes/added-models.ts';
import { TONE } from '../settings.ts';
import { tone } from '../speech.ts';

/** What an engine with this table answers to `messages`, sent when it is ready. */
async function run(table: ModelTable, settings: unknown, messages: readonly unknown[]): Promise<FromEngine[]> {
  const answers: FromEngine[] = [];
  const left = new Promise<void>((leave) => {
    const outlet = {
      send: (message: FromEngine) => {
        if (message.kind !== 'loading') answers.push(message);
      },
      leave: () => leave(),
    };
    const host = new EngineHost({ time: systemTime, outlet, table });
    host.receive({ kind: 'configure', settings });
    void (async () => {
      while (answers.length === 0) await systemTime.letMessagesIn();
      for (const message of messages) host.receive(message);
      host.receive({ kind: 'drain' });
    })();
  });
  await left;
  return answers;
}

describe('the model table', () => {
  it('names each model of a kind once', () => {
    const names = MODEL_TABLE.map(({ kind, name }) => `${kind} ${name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it('takes a model of every kind by one row, from configure to a result', async () => {
    const answers = await run([...MODEL_TABLE, ...ADDED_MODELS], { ...TONE, ...ADDED_NAMES }, [
      { kind: 'transcribe', id: 1, urgency: 'final', dueInMs: 100, samples: tone(400, 200), draft: [] },
      {
        kind: 'speak',
        id: 2,
        urgency: 'speak',
        dueInMs: 100,
        text: 'Grüß Gott',
        voice: 'hum',
        speed: 1,
        streamed: true,
      },
      {
        kind: 'detect',
        id: 3,
        urgency: 'detect',
        dueInMs: 32,
        tracks: [{ samples: tone(400, 64), state: null }],
      },
      { kind: 'turn', id: 4, urgency: 'turn', dueInMs: 200, samples: tone(400, 300) },
    ]);
    expect(answers[0]).toMatchObject({
      kind: 'ready',
      asrModel: 'two-languages-1',
      vadModel: 'always-1',
      ttsModel: 'hummer-1',
      turnModel: 'undecided-1',
      voices: [{ name: 'hum', language: 'de-AT', rateHz: 8000, model: 'hummer-1' }],
      languages: ['en', 'de', 'ja', 'ar'],
      abilities: { drafts: false, wordTimes: false, logprobs: false, languageGuess: true },
      costs: {
        transcribe: { perJobMs: 1, perSecondMs: 10 },
        detect: { perJobMs: 1, perSecondMs: 1 },
        speak: { perJobMs: 1, perCharacterMs: 1 },
        turn: { perJobMs: 1, perSecondMs: 1 },
      },
    });
    expect(answers.slice(1)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'transcribed', id: 1, text: 'ja' }),
        expect.objectContaining({ kind: 'spoken', id: 2, rateHz: 8000 }),
        expect.objectContaining({ kind: 'detected', id: 3 }),
        expect.objectContaining({ kind: 'turned', id: 4, probability: 0.5 }),
      ]),
    );
  });

  it('is what an unknown name is refused by', async () => {
    const answers = await run([...MODEL_TABLE, ...ADDED_MODELS], { ...TONE, ttsModel: 'parrot' }, []);
    expect(answers).toEqual([
      {
        kind: 'refused',
        code: 'bad_settings',
        message: 'TTS_MODEL: got "parrot", expected one of installed, flite, tone, hummer',
      },
    ]);
  });

  it('says which file of a model is missing, before anything is loaded', async () => {
    const [row] = ADDED_MODELS;
    if (row === undefined) throw new Error('there is no row');
    const files = [{ package: '@ricky0123/vad-web', path: 'no-such-model.onnx' }];
    const answers = await run([...MODEL_TABLE, { ...row, name: 'lost', files }], { ...TONE, asrModel: 'lost' }, []);
    expect(answers).toMatchObject([
      { kind: 'refused', code: 'model_missing', message: expect.stringContaining('no-such-model.onnx is missing') },
    ]);
  });

  it('says which package of a model is missing', async () => {
    const [row] = ADDED_MODELS;
    if (row === undefined) throw new Error('there is no row');
    const files = [{ package: '@nobody/no-such-package', path: 'model.onnx' }];
    const answers = await run([...MODEL_TABLE, { ...row, name: 'lost', files }], { ...TONE, asrModel: 'lost' }, []);
    expect(answers).toMatchObject([
      {
        kind: 'refused',
        code: 'model_missing',
        message: 'package @nobody/no-such-package is missing: run `npm ci` again',
      },
    ]);
  });
});
