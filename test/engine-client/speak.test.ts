import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { EngineErrorCode, SpeakRequest } from '../../src/engine-client/engine.ts';
import { EngineClient } from '../../src/engine-client/engine-client.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { TONE } from '../engine/settings.ts';
import { FakeClock } from '../fakes/clock.ts';
import { MANY_CORES } from '../helpers/engine-client.ts';
import { eventually } from '../helpers/eventually.ts';

/** A pretend engine process; the words that it obeys are listed in its file. */
const ENTRY = fileURLToPath(new URL('../fakes/engine-child.mjs', import.meta.url));

let engineClient: EngineClient;
let clock: FakeClock;
let metrics: Metrics;

function open(): void {
  clock = new FakeClock();
  metrics = new Metrics();
  const log = createLog('silent');
  const onRefused = () => undefined;
  engineClient = new EngineClient({
    engineSettings: TONE,
    workers: 1,
    cores: MANY_CORES,
    idleMs: 0,
    entry: ENTRY,
    clock,
    log,
    metrics,
    onRefused,
  });
}

/** What the pretend engine answers to `text`, spelt by the samples. */
async function speak(text: string, extra: Partial<SpeakRequest> = {}): Promise<string> {
  const { samples } = await engineClient.speak({
    text,
    voice: 'rms',
    speed: 1,
    urgency: 'speak',
    dueInMs: 500,
    ...extra,
  });
  return String.fromCharCode(...samples);
}

const codeOf = (promise: Promise<unknown>): Promise<EngineErrorCode | 'nothing'> =>
  promise.then(
    () => 'nothing',
    (error: { code: EngineErrorCode }) => error.code,
  );

afterEach(async () => {
  for (const pid of engineClient.status.pids) process.kill(pid, 'SIGKILL');
  await engineClient.close();
});

describe('EngineClient: speech that somebody comes to wait for', () => {
  it('leaves the queue of what can wait', async () => {
    open();
    const hurry = new AbortController();
    const first = engineClient.transcribe({
      samples: Int16Array.from('first', (letter) => letter.charCodeAt(0)),
      urgency: 'batch',
      dueInMs: 0,
      draft: [],
    });
    const spoken = speak('prompt', { urgency: 'batch', hurry: hurry.signal });
    hurry.abort();
    expect(await spoken).toBe('prompt');
    await first;
    expect(await speak('seen')).toBe('prompt:speak first:batch seen:speak');
  });

  it('is urgent from the start when somebody waits already', async () => {
    open();
    await speak('prompt', { urgency: 'batch', hurry: AbortSignal.abort() });
    expect(await speak('seen')).toBe('prompt:speak seen:speak');
  });

  it('is asked for where it is, once an engine has it', async () => {
    open();
    await engineClient.start();
    const hurry = new AbortController();
    const spoken = speak('hold', { urgency: 'batch', hurry: hurry.signal });
    hurry.abort();
    await eventually(async () => expect(await speak('seen')).toContain('hurried'));
    await speak('release');
    expect(await spoken).toBe('released');
  });
});

describe('EngineClient: speech', () => {
  it('resolves with the sound', async () => {
    open();
    const speech = await engineClient.speak({ text: 'hello', voice: 'rms', speed: 1, urgency: 'batch', dueInMs: 500 });
    expect(speech).toEqual({
      samples: Int16Array.from([104, 101, 108, 108, 111]),
      rateHz: 16_000,
      cost: { waitMs: 1, runMs: 10, runs: 1 },
    });
  });

  it('passes on the sound as it is made, and resolves with what comes behind it', async () => {
    open();
    const told: string[] = [];
    const onSound = (samples: Int16Array, rateHz: number) =>
      void told.push(`${String.fromCharCode(...samples)} ${rateHz}`);
    expect(await speak('one|two|three', { onSound })).toBe('three');
    expect(told).toEqual(['one 16000', 'two 16000']);
    expect(await speak('one|two|three')).toBe('three');
    expect(told).toHaveLength(2);
  });

  it('passes on each sample once, also when the engine dies in the middle', async () => {
    open();
    let told = '';
    const held = speak('one|two|hold', {
      onSound: (samples) => {
        told += String.fromCharCode(...samples);
      },
    });
    await eventually(() => expect(told).toBe('onetwo'));
    process.kill(engineClient.status.pids[0] ?? 0, 'SIGKILL');
    await eventually(() => expect(engineClient.status.pids).toEqual([]));
    clock.advance(100);
    await eventually(async () => expect(await speak('seen')).toContain('hold'));
    await speak('release');
    expect(await held).toBe('released');
    expect(told).toBe('onetwo');
  });

  it('passes nothing on once it is cancelled', async () => {
    open();
    const abort = new AbortController();
    let told = '';
    const onSound = (samples: Int16Array): void => {
      told += String.fromCharCode(...samples);
      abort.abort();
    };
    expect(await codeOf(speak('one|two|hold', { onSound, signal: abort.signal }))).toBe('cancelled');
    await eventually(async () => expect(await speak('seen')).toContain('cancelled'));
    expect(told).toBe('one');
  });

  it('knows the voices and the model once an engine has been ready, and while none is', async () => {
    open();
    expect(engineClient.voices).toEqual([]);
    expect(engineClient.ttsModel).toBeNull();
    await engineClient.start();
    expect(engineClient.voices).toMatchObject([{ name: 'rms', language: 'en-US', rateHz: 16_000 }]);
    expect(engineClient.ttsModel).toBe('tone');
    await engineClient.close();
    expect(engineClient.voices).toHaveLength(1);
  });

  it('sends a sentence again when its engine dies, in a call and in a batch', async () => {
    open();
    const held = [speak('hold'), speak('hold', { urgency: 'batch' })];
    await engineClient.start();
    await eventually(async () => expect(await speak('seen')).toContain('hold:speak hold:batch'));
    process.kill(engineClient.status.pids[0] ?? 0, 'SIGKILL');
    await eventually(() => expect(engineClient.status.pids).toEqual([]));
    clock.advance(100);
    await eventually(() => expect(engineClient.status.ready).toBe(1));
    await eventually(async () => expect(await speak('seen')).toMatch(/hold:speak.* hold:batch/));
    await speak('release');
    expect(await Promise.all(held)).toEqual(['released', 'released']);
    expect(
      (await metrics.registry.getSingleMetric('trunkline_engine_jobs_resent_total')?.get())?.values[0]?.value,
    ).toBe(2);
  });

  it('gives a sentence up that kills three engines', async () => {
    open();
    const poison = codeOf(speak('die'));
    for (const backoffMs of [100, 200]) {
      await eventually(() => expect(engineClient.status.pids).toHaveLength(1));
      await eventually(() => expect(engineClient.status.pids).toEqual([]));
      clock.advance(backoffMs);
    }
    expect(await poison).toBe('unavailable');
  });

  it('has a sentence forgotten that is cancelled', async () => {
    open();
    const abort = new AbortController();
    const held = codeOf(speak('hold', { signal: abort.signal }));
    await engineClient.start();
    await speak('wait');
    abort.abort();
    expect(await held).toBe('cancelled');
    await eventually(async () => expect(await speak('seen')).toContain('cancelled'));
  });

  it('sends nothing that is cancelled already', async () => {
    open();
    expect(await codeOf(speak('hello', { signal: AbortSignal.abort() }))).toBe('cancelled');
    expect(engineClient.status.state).toBe('stopped');
  });

  it('counts live speech as load, and batch speech not', async () => {
    open();
    await speak('hello', { urgency: 'batch' });
    expect(engineClient.load).toBe(0);
    await speak('hello');
    expect(engineClient.load).toBeGreaterThan(0);
  });
});
