import { beforeEach, describe, expect, it } from 'vitest';
import type { FromEngine } from '../../engine/contract.ts';
import { EngineHost } from '../../engine/host.ts';
import { systemTime } from '../../engine/time.ts';
import { TONE } from './settings.ts';
import { tone } from './speech.ts';

const transcribe = (id: number) => ({
  kind: 'transcribe',
  id,
  urgency: 'final',
  dueInMs: 1000,
  samples: tone(600, 600),
  draft: [],
});

/** All but how loading goes on. */
let messages: FromEngine[];
let stages: string[];
let left: string[];
let host: EngineHost;
let gone: Promise<void>;

beforeEach(() => {
  messages = [];
  stages = [];
  left = [];
  gone = new Promise((resolve) => {
    const leave = (reason: string) => {
      left.push(reason);
      resolve();
    };
    const send = (message: FromEngine): void => {
      if (message.kind === 'loading') stages.push(message.stage);
      else messages.push(message);
    };
    host = new EngineHost({ time: systemTime, outlet: { send, leave } });
  });
});

async function configured(): Promise<void> {
  host.receive({ kind: 'configure', settings: TONE });
  while (messages.length === 0) await systemTime.letMessagesIn();
}

/** Drains the host and gives what it said after `ready`. */
async function drained(): Promise<FromEngine[]> {
  host.receive({ kind: 'drain' });
  await gone;
  return messages.filter(({ kind }) => kind !== 'ready');
}

const SOLE = { detect: null, speak: null, turn: null };

describe('an engine', () => {
  it('says what it is when it is ready', async () => {
    await configured();
    expect(messages).toMatchObject([
      { kind: 'ready', asrModel: 'tone', vadModel: 'tone', provider: 'cpu', warning: null },
    ]);
  });

  it('says what it is at while it loads', async () => {
    await configured();
    expect(stages).toEqual([
      'the recogniser',
      'the other models',
      'a first run of the recogniser, over 1 s',
      'a first run of the recogniser, over 4 s',
      'first runs of the other models',
    ]);
  });

  it('loads nothing but its recogniser where it is the second one', async () => {
    host.receive({ kind: 'configure', settings: { ...TONE, role: 'final', turnModel: 'tone' } });
    while (messages.length === 0) await systemTime.letMessagesIn();
    expect(messages).toMatchObject([
      { kind: 'ready', asrModel: 'tone', vadModel: null, ttsModel: null, turnModel: null, voices: [], costs: SOLE },
    ]);
    const rest = { urgency: 'detect', dueInMs: 100, tracks: [], text: 'Hi.', voice: 'kal', speed: 1, streamed: false };
    host.receive({ ...rest, id: 1, kind: 'detect' });
    host.receive({ ...rest, id: 2, kind: 'speak', urgency: 'speak' });
    host.receive(transcribe(3));
    expect(await drained()).toMatchObject([
      { kind: 'failed', id: 1, message: 'kind: got "detect", and there is no voice detector' },
      { kind: 'failed', id: 2, message: 'kind: got "speak", and there is no synthesizer' },
      { kind: 'transcribed', id: 3, text: 'bravo bravo bravo' },
    ]);
  });

  it('finishes what was sent before it leaves', async () => {
    await configured();
    host.receive(transcribe(1));
    host.receive(transcribe(2));
    expect(await drained()).toMatchObject([
      { kind: 'transcribed', id: 1, text: 'bravo bravo bravo', cost: { runs: 3 } },
      { kind: 'transcribed', id: 2 },
    ]);
    expect(left).toEqual(['finished']);
  });

  it('keeps batch jobs waiting as long as it is told to, or until it is to leave', async () => {
    await configured();
    host.receive({ kind: 'hold', isHeld: true });
    host.receive({ ...transcribe(1), urgency: 'batch' });
    host.receive(transcribe(2));
    while (messages.length < 2) await systemTime.letMessagesIn();
    host.receive({ ...transcribe(3), urgency: 'batch' });
    host.receive({ kind: 'hold', isHeld: false });
    while (messages.length < 4) await systemTime.letMessagesIn();
    host.receive({ kind: 'hold', isHeld: true });
    host.receive({ ...transcribe(4), urgency: 'batch' });
    expect(await drained()).toMatchObject([2, 1, 3, 4].map((id) => ({ kind: 'transcribed', id })));
  });

  it('tells a sound as it is made where that is asked for: the same sound as at once', async () => {
    await configured();
    const speak = {
      kind: 'speak',
      urgency: 'speak',
      dueInMs: 500,
      speed: 1,
      voice: 'kal',
      text: 'As long as a breath.',
    };
    host.receive({ ...speak, id: 1, streamed: true });
    host.receive({ ...speak, id: 2, streamed: false });
    const told = await drained();
    expect(told.map(({ kind }) => kind)).toEqual(['sound', 'spoken', 'spoken']);
    const samples = (id: number) =>
      told.flatMap((message) =>
        (message.kind === 'sound' || message.kind === 'spoken') && message.id === id ? [...message.samples] : [],
      );
    expect(samples(1)).toHaveLength(0.4 * 8000);
    expect(samples(1)).toEqual(samples(2));
  });

  it('says a sentence, in the voices that it named', async () => {
    await configured();
    expect(messages[0]).toMatchObject({
      ttsModel: 'tone-1',
      voices: [{ name: 'rms' }, { name: 'slt' }, { name: 'awb' }, { name: 'kal' }, {}],
    });
    const speak = { kind: 'speak', urgency: 'speak', dueInMs: 500, speed: 1, streamed: false };
    host.receive({ ...speak, id: 1, text: 'ten chars.', voice: 'kal' });
    host.receive({ ...speak, id: 2, text: 'hello', voice: 'nobody' });
    expect(await drained()).toMatchObject([
      {
        kind: 'failed',
        id: 2,
        code: 'bad_input',
        message: expect.stringContaining('voice: got "nobody", expected one of rms, slt'),
      },
      { kind: 'spoken', id: 1, samples: { length: 0.2 * 8000 }, rateHz: 8000, cost: { runs: 1 } },
    ]);
  });

  it('decides turns where a turn detector is wanted, and says which', async () => {
    host.receive({ kind: 'configure', settings: { ...TONE, turnModel: 'tone' } });
    while (messages.length === 0) await systemTime.letMessagesIn();
    expect(messages[0]).toMatchObject({ turnModel: 'tone', costs: { turn: { perJobMs: 36 } } });
    host.receive({ kind: 'turn', id: 1, urgency: 'turn', dueInMs: 200, samples: tone(2600, 300) });
    expect(await drained()).toMatchObject([{ kind: 'turned', id: 1, probability: 1, cost: { runs: 1 } }]);
  });

  it('has no turn detector where none is wanted or installed', async () => {
    host.receive({ kind: 'configure', settings: { ...TONE, turnModel: 'auto' } });
    while (messages.length === 0) await systemTime.letMessagesIn();
    expect(messages[0]).toMatchObject({ turnModel: null, costs: { turn: null } });
    host.receive({ kind: 'turn', id: 1, urgency: 'turn', dueInMs: 200, samples: tone(2600, 300) });
    expect(await drained()).toMatchObject([{ kind: 'failed', id: 1, code: 'bad_input' }]);
  });

  it('gives a sign of life between two model runs when it is asked for one, ready or not', async () => {
    host.receive({ kind: 'ask' });
    expect(messages.splice(0)).toEqual([{ kind: 'alive' }]);
    await configured();
    host.receive(transcribe(1));
    await systemTime.letMessagesIn();
    host.receive({ kind: 'ask' });
    expect((await drained()).map(({ kind }) => kind)).toEqual(['alive', 'transcribed']);
  });

  it('leaves jobs unanswered that come after drain', async () => {
    await configured();
    host.receive({ kind: 'drain' });
    host.receive(transcribe(3));
    expect(await drained()).toEqual([]);
  });

  it('leaves once, whatever is asked of it', async () => {
    await configured();
    for (const _ of [1, 2]) host.receive({ kind: 'drain' });
    host.abandon();
    await drained();
    expect(left).toEqual(['finished']);
  });

  it('answers nothing any more when nobody listens', async () => {
    await configured();
    host.receive(transcribe(1));
    host.abandon();
    await gone;
    expect(messages.map(({ kind }) => kind)).toEqual(['ready']);
  });

  it('refuses wrong settings and leaves, even while it is asked to drain', async () => {
    host.receive({ kind: 'configure', settings: { ...TONE, threads: 0 } });
    host.receive({ kind: 'drain' });
    await gone;
    await systemTime.letMessagesIn();
    expect(messages).toMatchObject([
      { kind: 'refused', code: 'bad_settings', message: expect.stringContaining('threads: got 0') },
    ]);
    expect(left).toEqual(['refused']);
  });

  it('is configured once', async () => {
    await configured();
    host.receive({ kind: 'configure', settings: {} });
    expect(await drained()).toEqual([]);
    expect(left).toEqual(['finished']);
  });

  it('refuses jobs before it is ready', () => {
    host.receive(transcribe(1));
    expect(messages).toMatchObject([
      { kind: 'failed', id: 1, code: 'bad_input', message: 'sent before the engine is ready' },
    ]);
  });

  it('answers a malformed message where it has an id and ignores it where it has none', async () => {
    await configured();
    const malformed = [
      null,
      7,
      'drain',
      {},
      { kind: 'sing' },
      { kind: 'cancel' },
      { kind: 'transcribe', id: 'x' },
      new Int16Array(3),
    ];
    for (const message of malformed) host.receive(message);
    host.receive({ kind: 'sing', id: 4 });
    host.receive({ ...transcribe(5), samples: 'speech' });
    host.receive({
      kind: 'detect',
      id: 6,
      urgency: 'detect',
      dueInMs: 5,
      tracks: [{ samples: new Int16Array(100), state: null }],
    });
    host.receive({ kind: 'cancel', id: 99 });
    expect(await drained()).toMatchObject([4, 5, 6].map((id) => ({ kind: 'failed', id, code: 'bad_input' })));
  });
});
