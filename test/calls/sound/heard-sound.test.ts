import { expect, test } from 'vitest';
import { encodeG711 } from '../../../src/audio/g711.ts';
import { Playout } from '../../../src/calls/outbound/playout.ts';
import { CallTime } from '../../../src/calls/sound/call-time.ts';
import { HeardSound } from '../../../src/calls/sound/heard-sound.ts';
import { ALAW_8K, type Codec, MULAW_8K } from '../../../src/foundation/units.ts';
import { FakeClock } from '../../fakes/clock.ts';

const PCM_16K: Codec = { name: 'pcm16', rateHz: 16_000, channels: 1, bytesPerSample: 2 };

/** A playout as the legs have it: Twilio buffers; SIP, AudioSocket and the phone in the browser get frames when due. */
function play(codec: Codec, buffered: boolean, framesPerMessage = 1) {
  const clock = new FakeClock();
  const heardMs: number[] = [];
  const heard = new HeardSound(codec, (_samples, atMs) => heardMs.push(atMs));
  heard.isOn = true;
  const playout = new Playout<string>({
    codec,
    clock,
    buffered,
    framesPerMessage,
    leadMs: 400,
    taps: [heard],
    send: () => undefined,
    onBegun: () => undefined,
    onHeard: () => undefined,
    onMarkLost: () => undefined,
    onFailure: (error) => {
      throw error;
    },
  });
  const add = (durationMs: number): void => {
    const sound = playout.open('a');
    sound.add(encodeG711(new Int16Array((codec.rateHz * durationMs) / 1000).fill(5000), codec));
    sound.end();
  };
  return { clock, playout, heard, heardMs, add };
}

test.each([
  ['Twilio', MULAW_8K, true, 1],
  ['Exotel, five frames a message', PCM_16K, true, 5],
  ['SIP', ALAW_8K, false, 1],
  ['AudioSocket', { ...PCM_16K, rateHz: 8000 }, false, 1],
])('%s: each frame is told once, at the time at which it sounds', (_who, codec, buffered, framesPerMessage) => {
  const { clock, heard, heardMs, add } = play(codec, buffered, framesPerMessage);
  clock.advance(1000);
  add(500);
  for (let ms = 0; ms < 2000; ms += 50) {
    clock.advance(50);
    heard.release(clock.nowMs());
  }
  expect(heardMs).toEqual(Array.from({ length: 25 }, (_, i) => 1000 + 20 * i));
});

test('frames are told when they are over, not when they are sent', () => {
  const { clock, heard, heardMs, add } = play(MULAW_8K, true);
  add(400);
  heard.release(clock.nowMs());
  expect(heardMs).toEqual([]);
  clock.advance(100);
  heard.release(clock.nowMs());
  expect(heardMs).toHaveLength(5);
});

test('frames that a pause takes back are told when they are heard after it, and dropped ones never', () => {
  const { clock, playout, heard, heardMs, add } = play(MULAW_8K, true);
  add(1000);
  clock.advance(200);
  playout.pause();
  clock.advance(300);
  playout.resume();
  clock.advance(200);
  playout.drop(() => true);
  clock.advance(3000);
  heard.release(clock.nowMs());
  expect(heardMs).toEqual([...frames(0, 10), ...frames(500, 10)]);
});

test('nothing is kept while nobody wants to know', () => {
  const { clock, heard, heardMs, add } = play(MULAW_8K, true);
  heard.isOn = false;
  add(400);
  clock.advance(1000);
  heard.isOn = true;
  heard.release(clock.nowMs());
  expect(heardMs).toEqual([]);
});

test('the time of a call follows the least delay, and forgets what is long past', () => {
  const time = new CallTime();
  expect(time.isKnown).toBe(false);
  time.observe(0, 1000);
  for (let callMs = 0; callMs <= 30_000; callMs += 20) time.observe(callMs, callMs + 1100 + (callMs % 100));
  expect(time.at(40_000)).toBe(38_900);
});

function frames(fromMs: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => fromMs + 20 * i);
}
