import { describe, expect, it } from 'vitest';
import { PacedSilence } from '../../../src/carriers/shared/paced-silence.ts';
import { FRAME_MS } from '../../../src/foundation/units.ts';
import { FakeClock } from '../../fakes/clock.ts';

/** When frames of silence and of sound were sent. */
function begin() {
  const clock = new FakeClock();
  const frames: [ms: number, what: 'silence' | 'sound'][] = [];
  const silence = new PacedSilence({ clock, send: () => frames.push([clock.nowMs(), 'silence']) });
  silence.begin();
  const speak = (): void => {
    silence.spoke(1);
    frames.push([clock.nowMs(), 'sound']);
  };
  /** Frames of sound every 20 ms from now on. */
  const speakFor = (count: number): void => {
    for (let i = 0; i < count; i++) {
      speak();
      clock.advance(FRAME_MS);
    }
  };
  return { clock, frames, silence, speak, speakFor };
}

describe('silence on an idle line', () => {
  it('is a frame every 20 ms without drift', () => {
    const { clock, frames } = begin();
    clock.advance(10_000);
    expect(frames.map(([ms]) => ms)).toEqual(Array.from({ length: 500 }, (_, i) => (i + 1) * FRAME_MS));
  });

  it('does not come between frames of sound, nor when their timer is late by less than a frame', () => {
    const { clock, frames, speak } = begin();
    for (const lateMs of [0, 3, 19, 1, 0]) {
      clock.advance(lateMs);
      speak();
      clock.advance(FRAME_MS - lateMs);
    }
    expect(frames.filter(([, what]) => what === 'silence')).toEqual([]);
  });

  it('makes up for sound that began early, so that nothing adds up over many sentences', () => {
    const { clock, frames, speakFor } = begin();
    for (let sentence = 0; sentence < 100; sentence++) {
      clock.advance(200 + (sentence % 20));
      speakFor(25);
    }
    clock.advance(100);
    expect(Math.abs(frames.length - clock.nowMs() / FRAME_MS)).toBeLessThanOrEqual(1);
  });

  it('is not made up for after a hold-up', () => {
    const { clock, frames } = begin();
    clock.stall(5000);
    expect(frames.length).toBeLessThanOrEqual(3);
    clock.advance(1000);
    expect(frames.length).toBeLessThanOrEqual(53);
  });

  it('ends', () => {
    const { clock, frames, silence } = begin();
    silence.end();
    clock.advance(1000);
    expect([frames, clock.pending]).toEqual([[], 0]);
  });
});
