import { beforeEach, describe, expect, it } from 'vitest';
import type { FromEngine, Urgency } from '../../engine/contract.ts';
import { EngineHost } from '../../engine/host.ts';
import { MODEL_TABLE, type ModelTable } from '../../engine/models/model-table.ts';
import { createToneAsr } from '../../engine/models/tone.ts';
import { systemTime } from '../../engine/time.ts';
import { TONE } from './settings.ts';
import { tone } from './speech.ts';

const TRACKS = 64;
const BATCH_MAX = 16;
/** Of 200 ms each, one run for each. */
const SLICES = 3;
const FREQUENCIES_HZ = [400, 600, 800, 1000];
const WORDS = ['alpha', 'bravo', 'charlie', 'delta'];

let messages: FromEngine[];
/** Rows of each run. */
let runs: number[];
let host: EngineHost;
let gone: Promise<void>;

const table: ModelTable = MODEL_TABLE.map((row) =>
  row.kind === 'recogniser' && row.name === 'tone'
    ? { ...row, load: async () => ({ asr: createToneAsr(BATCH_MAX, (rows) => runs.push(rows)), warning: null }) }
    : row,
);

beforeEach(async () => {
  messages = [];
  runs = [];
  gone = new Promise((resolve) => {
    const outlet = {
      send: (message: FromEngine) => {
        if (message.kind !== 'loading') messages.push(message);
      },
      leave: () => resolve(),
    };
    host = new EngineHost({ time: systemTime, outlet, table });
  });
  host.receive({ kind: 'configure', settings: TONE });
  while (messages.length === 0) await systemTime.letMessagesIn();
});

function ask(id: number, urgency: Urgency = 'final'): void {
  const samples = tone(FREQUENCIES_HZ[id % FREQUENCIES_HZ.length] ?? 0, SLICES * 200);
  host.receive({ kind: 'transcribe', id, urgency, dueInMs: 60_000, samples, draft: [] });
}

async function answers(): Promise<FromEngine[]> {
  host.drain();
  await gone;
  return messages.filter(({ kind }) => kind !== 'ready');
}

const textOf = (id: number) =>
  Array(SLICES)
    .fill(WORDS[id % WORDS.length])
    .join(' ');

describe('an engine whose recogniser reads for sixteen jobs at once', () => {
  it('says so', () => {
    expect(messages).toMatchObject([{ kind: 'ready', batchMax: BATCH_MAX }]);
  });

  it('gives each of 64 tracks what was said on it, in a sixteenth of the runs', async () => {
    for (let id = 0; id < TRACKS; id++) ask(id);
    const given = await answers();
    expect(given).toHaveLength(TRACKS);
    for (let id = 0; id < TRACKS; id++) {
      const answer = given.find((each) => 'id' in each && each.id === id);
      expect(answer).toMatchObject({ kind: 'transcribed', text: textOf(id), cost: { runs: SLICES } });
    }
    expect(runs).toEqual(Array((TRACKS / BATCH_MAX) * SLICES).fill(BATCH_MAX));
  });

  it('answers those that are cancelled at any moment once, and the others as if nothing were', async () => {
    for (let id = 0; id < TRACKS; id++) ask(id);
    for (let id = 0; id < TRACKS; id += 5) {
      await systemTime.letMessagesIn();
      host.receive({ kind: 'cancel', id });
    }
    const given = await answers();
    expect(given).toHaveLength(TRACKS);
    expect(new Set(given.map((each) => 'id' in each && each.id)).size).toBe(TRACKS);
    for (const answer of given) {
      if (answer.kind === 'transcribed') expect(answer.text).toBe(textOf(answer.id));
      else expect(answer).toMatchObject({ kind: 'failed', code: 'cancelled' });
    }
    expect(given.some(({ kind }) => kind === 'transcribed') && given.some(({ kind }) => kind === 'failed')).toBe(true);
  });

  it('leaves recordings that are held where they are, and reads no call together with them', async () => {
    host.receive({ kind: 'hold', isHeld: true });
    for (let id = 0; id < 4; id++) ask(id, 'batch');
    for (let id = 4; id < 6; id++) ask(id);
    while (messages.length < 3) await systemTime.letMessagesIn();
    expect(runs).toEqual(Array(SLICES).fill(2));
    host.receive({ kind: 'hold', isHeld: false });
    expect(await answers()).toHaveLength(6);
    expect(runs).toEqual([...Array(SLICES).fill(2), ...Array(SLICES).fill(4)]);
  });
});
