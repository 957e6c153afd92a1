/** Both channels of a recorded call lie in the time of its captions. */
import { expect, test } from 'vitest';
import { FRAME_MS } from '../../../src/foundation/units.ts';
import { type Caller, type Gateway, startCalls } from '../harness.ts';
import { type MemorySound, MemoryTap } from './memory-tap.ts';

/** How far a sound may be from its place. */
const TOLERANCE_MS = 30;

interface Recorded {
  readonly gateway: Gateway;
  readonly caller: Caller;
  sound(): MemorySound;
  /** Lets `durationMs` pass while the caller sends a frame every 20 ms, `lateMs` late. */
  pass(
    durationMs: number,
    how?: { readonly isLoud?: boolean; readonly lateMs?: (frame: number) => number },
  ): Promise<void>;
}

function record(environment: Record<string, string> = {}): Recorded {
  const tap = new MemoryTap();
  const gateway = startCalls({ RECORD: 'both', PLAYOUT_LEAD_MS: '400', ...environment }, tap);
  const caller = gateway.dial().start();
  let frame = 0;
  return {
    gateway,
    caller,
    sound: () => tap.opened[0] as MemorySound,
    pass: async (durationMs, { isLoud = false, lateMs = () => 0 } = {}) => {
      let dueMs = gateway.clock.nowMs();
      for (let ms = 0; ms < durationMs; ms += FRAME_MS) {
        dueMs += FRAME_MS;
        await gateway.clock.run(Math.max(dueMs + lateMs(frame++) - gateway.clock.nowMs(), 0));
        caller.returnMarks(gateway.clock.nowMs());
        if (isLoud) caller.speak(FRAME_MS);
        else caller.hush(FRAME_MS);
      }
      await gateway.clock.run(Math.max(dueMs - gateway.clock.nowMs(), 0));
    },
  };
}

const beep = (durationMs: number): Int16Array =>
  Int16Array.from({ length: 8 * durationMs }, (_, i) => (i % 8 < 4 ? 8000 : -8000));

function expectNear(found: readonly [number, number][], expected: readonly [number, number][]): void {
  expect(found).toHaveLength(expected.length);
  for (const [index, [fromMs, toMs]] of expected.entries()) {
    expect(Math.abs((found[index]?.[0] ?? Number.NaN) - fromMs)).toBeLessThanOrEqual(TOLERANCE_MS);
    expect(Math.abs((found[index]?.[1] ?? Number.NaN) - toMs)).toBeLessThanOrEqual(TOLERANCE_MS);
  }
}

test('a beep that is played lies where the caller heard it, beside what the caller said', async () => {
  const { gateway, pass, sound } = record();
  await pass(2000);
  await pass(500, { isLoud: true });
  await pass(500);
  gateway.registry.voice('CA1')?.play(beep(400), 8000, { label: 'beep' });
  await pass(1500);
  expectNear(sound().loudIn('caller'), [[2000, 2500]]);
  expectNear(sound().loudIn('heard'), [[3000, 3400]]);
});

test('the caller is where the captions say: speech.started and the sound have one time', async () => {
  const { gateway, pass, sound } = record();
  await pass(3000);
  await pass(1000, { isLoud: true });
  await pass(2000);
  const started = gateway.events.find(({ type }) => type === 'speech.started');
  const [[fromMs]] = sound().loudIn('caller') as [[number, number]];
  expect(started).toBeDefined();
  expect(Math.abs((started as { atMs: number }).atMs - fromMs)).toBeLessThanOrEqual(100);
});

test('jitter of the carrier moves neither channel', async () => {
  const { gateway, pass, sound } = record();
  const lateMs = (frame: number): number => [0, 5, 35, 12, 48, 3, 90, 60, 30, 0][frame % 10] ?? 0;
  await pass(5000, { lateMs });
  const playedAtMs = gateway.clock.nowMs();
  gateway.registry.voice('CA1')?.play(beep(400), 8000, { label: 'beep' });
  await pass(2000, { lateMs });

  expectNear(sound().loudIn('heard'), [[playedAtMs, playedAtMs + 400]]);
});

test('a loss, and a hold longer than any gap that is filled, leave the times behind them right', async () => {
  const { gateway, caller, pass, sound } = record({ GAP_MAX_MS: '2000' });
  await pass(1000, { isLoud: true });
  caller.lose(600);
  await gateway.clock.run(600);
  await pass(1000, { isLoud: true });
  // The carrier says nothing for half a minute, and goes on in its own time.
  caller.lose(30_000);
  await gateway.clock.run(30_000);
  await pass(500, { isLoud: true });
  await pass(500);
  gateway.registry.voice('CA1')?.play(beep(400), 8000, { label: 'beep' });
  await pass(1500);
  expectNear(sound().loudIn('caller').slice(-1), [[32_600, 33_100]]);
  expectNear(sound().loudIn('heard'), [[33_600, 34_000]]);
});

test('what is interrupted ends where the caller heard it end', async () => {
  const { gateway, pass, sound } = record();
  await pass(1000);
  gateway.registry.voice('CA1')?.play(beep(3000), 8000, { label: 'beep' });
  await pass(700);
  gateway.registry.voice('CA1')?.interrupt();
  await pass(2000);
  expectNear(sound().loudIn('heard'), [[1000, 1700]]);
});

test('clocks that differ by a part in a thousand do not pull the channels apart', async () => {
  const { gateway, pass, sound } = record();
  // The carrier's frames take 20.02 ms of our time: after a minute it is 60 ms behind.
  const lateMs = (frame: number): number => frame * 0.02;
  await pass(60_000, { lateMs });
  gateway.registry.voice('CA1')?.play(beep(400), 8000, { label: 'beep' });
  const playedAtMs = gateway.clock.nowMs() - 60;
  await pass(1500, { lateMs });
  expectNear(sound().loudIn('heard'), [[playedAtMs, playedAtMs + 400]]);
});

test('a carrier with both tracks gives both channels', async () => {
  const tap = new MemoryTap();
  const gateway = startCalls({ RECORD: 'both' }, tap);
  const caller = gateway.dial().start({ tracks: ['inbound', 'outbound'] });
  caller.hush(500).speak(200).hush(300);
  caller.hush(700, 'outbound').speak(300, 'outbound');
  await gateway.clock.run(300);
  const sound = tap.opened[0] as MemorySound;
  expectNear(sound.loudIn('caller'), [[500, 700]]);
  expectNear(sound.loudIn('heard'), [[700, 1000]]);
});
