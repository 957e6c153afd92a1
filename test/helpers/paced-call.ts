/**
 * A call's sound on a clock of the test, as far as Asterisk's timestamps: playout, and for AudioSocket the silence
 * between.
 */
import { Playout } from '../../src/calls/outbound/playout.ts';
import { PacedSilence } from '../../src/carriers/shared/paced-silence.ts';
import { MULAW_8K, msToBytes } from '../../src/foundation/units.ts';
import { FakeClock } from '../fakes/clock.ts';
import { AsteriskTimestamps } from './asterisk-timestamps.ts';

/** The byte that sound of {@link startPlayout} is made of. */
export const LOUD = 1;

/** A playout that sends each frame when it is due. Returns what puts `ms` of sound at the end of its line. */
export function startPlayout(clock: FakeClock, send: (bytes: Uint8Array) => void): (ms: number) => void {
  const playout = new Playout({
    codec: MULAW_8K,
    clock,
    buffered: false,
    leadMs: 0,
    send: (command) => command.type === 'audio' && send(command.bytes),
    onBegun: () => undefined,
    onHeard: () => undefined,
    onMarkLost: () => undefined,
    onFailure: (error) => {
      throw error;
    },
  });
  return (ms) => {
    const sound = playout.open(null);
    sound.add(new Uint8Array(msToBytes(ms, MULAW_8K)).fill(LOUD));
    sound.end();
  };
}

/** A call over AudioSocket, as Asterisk sends it on to a phone. */
export function audioSocketCall() {
  const clock = new FakeClock();
  const timestamps = new AsteriskTimestamps();
  const frames: { readonly atMs: number; readonly loud: boolean }[] = [];
  const gapsMs: number[] = [];
  let mostAheadMs = 0;
  const take = (loud: boolean): void => {
    frames.push({ atMs: clock.nowMs(), loud });
    const gapMs = timestamps.frame(clock.nowMs());
    mostAheadMs = Math.max(mostAheadMs, timestamps.aheadMs);
    if (gapMs !== 0) gapsMs.push(gapMs);
  };
  const silence = new PacedSilence({ clock, send: () => take(false) });
  const speak = startPlayout(clock, () => {
    silence.spoke(1);
    take(true);
  });
  silence.begin();
  return { clock, speak, frames, gapsMs, aheadMs: () => timestamps.aheadMs, mostAheadMs: () => mostAheadMs };
}

/** Hold-ups of `ms`, one every `everyMs`, for so long in all. */
export function holdUp(clock: FakeClock, ms: number, everyMs: number, inAllMs = 10_000): void {
  for (let atMs = 0; atMs < inAllMs; atMs += everyMs) {
    clock.stall(ms);
    clock.advance(everyMs - ms);
  }
}
