import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TranscribeRequest, Transcript } from '../../src/engine-client/engine.ts';
import type { EngineClient, EngineClientOptions } from '../../src/engine-client/engine-client.ts';
import { RecogniserPair } from '../../src/engine-client/recogniser-pair.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import type { Metrics } from '../../src/foundation/metrics.ts';
import type { FakeClock } from '../fakes/clock.ts';
import {
  closeEngineClients,
  DIES_LOADING,
  killEngine,
  NEVER_READY,
  open,
  outcome,
  restart,
  SETTINGS,
  say,
} from '../helpers/engine-client.ts';
import { eventually } from '../helpers/eventually.ts';

const FINAL = { ...SETTINGS, role: 'final' } as const;
const LATE_MS = 500;

let live: EngineClient;
let final: EngineClient;
let pair: RecogniserPair;
let clock: FakeClock;
let metrics: Metrics;
let logged: string[];

function openPair(options: Partial<EngineClientOptions> = {}, liveOptions: Partial<EngineClientOptions> = {}): void {
  ({ engineClient: live, clock, metrics } = open(liveOptions));
  ({ engineClient: final } = open({ engineSettings: FINAL, clock, metrics, ...options }));
  logged = [];
  const log = createLog('warn', { write: (line: string) => logged.push(JSON.parse(line).msg) });
  pair = new RecogniserPair({ live, final, clock, log, metrics });
}

function ask(word: string, extra: Partial<TranscribeRequest> = {}): Promise<Transcript> {
  const samples = Int16Array.from(word, (letter) => letter.charCodeAt(0));
  return pair.transcribe({ samples, urgency: 'final', dueInMs: 100, draft: [], use: 'final', ...extra });
}

const soon = (word: string, extra: Partial<TranscribeRequest> = {}) => ask(word, { lateInMs: LATE_MS, ...extra });

const given = (engineClient: EngineClient) =>
  engineClient.report.queue.reduce((sum, { assigned, waiting }) => sum + assigned + waiting, 0);

const fallbacks = async () =>
  Object.fromEntries(
    (await metrics.finalFallbacks.get()).values.map(({ labels, value }) => [labels['reason'], value] as const),
  );

beforeEach(() => openPair());
afterEach(closeEngineClients);

describe('two recognisers', () => {
  it('read partials with the one, and finals and recordings with the other', async () => {
    await pair.start();
    expect(await ask('one', { use: 'live', urgency: 'partial' })).toMatchObject({ text: 'one', by: 'live' });
    expect(await soon('two')).toMatchObject({ text: 'TWO', by: 'final' });
    expect(await soon('three', { urgency: 'eager' })).toMatchObject({ text: 'THREE' });
    expect(await ask('four', { urgency: 'batch' })).toMatchObject({ text: 'FOUR', by: 'final' });
    expect(await ask('five', { urgency: 'partial', dueInMs: 2000 })).toMatchObject({ text: 'FIVE' });
    expect(await fallbacks()).toEqual({});
  });

  it('leave everything else to the first', async () => {
    await pair.start();
    expect((await pair.detect({ samples: new Int16Array(512).fill(500), state: null })).probabilities[0]).toBe(0.5);
    expect(pair.voices).toHaveLength(1);
    expect(pair.languages).toEqual(['en', 'de']);
    expect(pair.abilities).toMatchObject({ textDrafts: true });
    expect(pair.status).toMatchObject({ ready: 1, workers: 1, final: { ready: 1, recogniser: { licence: 'none' } } });
    expect(pair.report.engines).toHaveLength(2);
    expect(await metrics.registry.getSingleMetricAsString('trunkline_engines_ready')).toContain(' 2');
  });

  it('get the tokens of a draft of their own, and the text of one of the other', async () => {
    await pair.start();
    const draft = { draft: [7, 8], draftText: 'heard' };
    expect((await soon('draft', { ...draft, draftBy: 'final' })).text).toBe('7,8/');
    expect((await soon('draft', { ...draft, draftBy: 'live' })).text).toBe('/HEARD');
    expect((await ask('draft', { ...draft, use: 'live', draftBy: 'live' })).text).toBe('7,8/');
    expect((await ask('draft', { ...draft, use: 'live', draftBy: 'final' })).text).toBe('/');
  });
});

describe('a final that is late', () => {
  it('is read by the first recogniser, and the better text follows', async () => {
    await pair.start();
    const reading = soon('final-hold');
    await eventually(() => expect(given(final)).toBe(1));
    clock.advance(LATE_MS);
    const { text, by, late } = await reading;
    expect([text, by]).toEqual(['final-hold', 'live']);
    expect(await ask('release', { urgency: 'batch' })).toMatchObject({ text: 'RELEASE' });
    expect(await late).toMatchObject({ text: 'RELEASED', by: 'final' });
    expect(await fallbacks()).toEqual({ late: 1 });
    expect(logged).toEqual([expect.stringContaining('was too slow for a final:')]);
  });

  it('keeps the better text where that comes first after all', async () => {
    await pair.start();
    const reading = soon('hold');
    await eventually(() => expect(given(final)).toBe(1));
    clock.advance(LATE_MS);
    await eventually(() => expect(given(live)).toBe(1));
    await ask('release', { urgency: 'batch' });
    expect(await reading).toMatchObject({ text: 'RELEASED', by: 'final' });
    expect(await say(live, 'seen')).toBe('hold:final cancelled seen:final');
    expect(await fallbacks()).toEqual({});
  });

  it('is not waited for longer than two seconds more, also not by an engine that hangs', async () => {
    await pair.start();
    const reading = soon('final-hang');
    await eventually(() => expect(given(final)).toBe(1));
    clock.advance(LATE_MS);
    const { text, late } = await reading;
    expect(text).toBe('final-hang');
    clock.advance(2000);
    expect(await late).toBeNull();
  });

  it('is not tried where that is known beforehand', async () => {
    await pair.start();
    const held = Array.from({ length: 30 }, () => ask('final-hold'));
    await eventually(() => expect(given(final)).toBe(30));
    expect(await soon('next', { lateInMs: 50 })).toMatchObject({ text: 'next', by: 'live' });
    expect((await soon('next', { lateInMs: 50 })).late).toBeUndefined();
    expect(await outcome(ask('next', { urgency: 'partial', dueInMs: 50 }).then(({ text }) => text))).toBe('stale');
    expect(await fallbacks()).toEqual({ busy: 2 });
    expect(logged).toHaveLength(1);
    await ask('release', { urgency: 'batch' });
    for (const { by } of await Promise.all(held)) expect(by).toBe('final');
  });
});

describe('without an engine with the second recogniser', () => {
  it('the first reads until there is one', async () => {
    openPair({ engineSettings: { ...FINAL, ...NEVER_READY, role: 'final' } });
    await live.start();
    expect(await soon('word')).toMatchObject({ text: 'word', by: 'live' });
    expect(await outcome(ask('word', { urgency: 'partial', dueInMs: 2000 }).then(({ text }) => text))).toBe('stale');
    expect(await fallbacks()).toEqual({ not_ready: 1 });
    expect(pair.languages).toEqual([]);
    expect(final.status.state).toBe('starting');
  });

  it('a death in between costs nothing', async () => {
    await pair.start();
    const held = soon('final-hold');
    await eventually(() => expect(given(final)).toBe(1));
    killEngine(final);
    await eventually(() => expect(final.status.pids).toEqual([]));
    expect(await soon('word')).toMatchObject({ text: 'word', by: 'live' });
    clock.advance(LATE_MS);
    expect(await held).toMatchObject({ text: 'final-hold', by: 'live' });
    await eventually(() => expect(final.status.ready).toBe(1));
    expect(await soon('word')).toMatchObject({ text: 'WORD', by: 'final' });
  });

  it('what kills each engine that reads it is read by the first, in calls and recordings', async () => {
    await pair.start();
    const recording = ask('final-die', { urgency: 'batch' });
    for (const backoffMs of [100, 200, 400]) await restart(final, clock, backoffMs);
    expect(await recording).toMatchObject({ text: 'final-die', by: 'live' });
    expect(await fallbacks()).toEqual({ failed: 1 });
  });

  it('the gateway starts where none can be started', async () => {
    openPair({ engineSettings: { ...FINAL, ...DIES_LOADING, role: 'final' } });
    const starting = pair.start();
    for (const backoffMs of [100, 200, 400, 800]) await restart(final, clock, backoffMs);
    await starting;
    expect(logged).toEqual(['no engine with ASR_FINAL_MODEL is ready: ASR_MODEL reads everything']);
    expect(pair.languages).toEqual(['en']);
    expect(await soon('word')).toMatchObject({ text: 'word', by: 'live' });
  });

  it('it is started by the first final, and stops by itself', async () => {
    openPair({ idleMs: 60_000 });
    await pair.start();
    clock.advance(59_000);
    await ask('one', { use: 'live' });
    clock.advance(2000);
    await eventually(() => expect([live.status.ready, final.status.state]).toEqual([1, 'stopped']));
    expect(await soon('two')).toMatchObject({ by: 'live' });
    await eventually(() => expect(final.status.state).toBe('ready'));
    expect(await soon('three')).toMatchObject({ by: 'final' });
  });
});

it('the first recogniser stops by itself while the second reads, and is started when it is asked', async () => {
  openPair({}, { idleMs: 60_000 });
  await pair.start();
  clock.advance(59_000);
  expect(await ask('recording', { urgency: 'batch' })).toMatchObject({ by: 'final' });
  clock.advance(2000);
  await eventually(() => expect([live.status.state, final.status.ready]).toEqual(['stopped', 1]));
  expect(await ask('recording', { urgency: 'batch' })).toMatchObject({ by: 'final' });
  expect(live.status.state).toBe('stopped');
  expect(await ask('partial', { use: 'live', urgency: 'partial' })).toMatchObject({ by: 'live' });
  expect(live.status.state).toBe('ready');
});

it('is cancelled in both recognisers', async () => {
  await pair.start();
  const controller = new AbortController();
  const reading = soon('hold', { signal: controller.signal });
  await eventually(() => expect(given(final)).toBe(1));
  clock.advance(LATE_MS);
  await eventually(() => expect(given(live)).toBe(1));
  controller.abort();
  expect(await outcome(reading.then(({ text }) => text))).toBe('cancelled');
  await eventually(() => expect([given(final), given(live)]).toEqual([0, 0]));
});
