import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Arrivals } from '../../src/transcription/audio-arrivals.ts';
import { RING_LIMIT_SAMPLES, SampleRing } from '../../src/transcription/sample-ring.ts';

describe('SampleRing', () => {
  it('gives back what was pushed by its number, for as long as it is kept', () => {
    const pushes = fc.array(fc.record({ length: fc.nat(50), release: fc.nat(60) }), { maxLength: 30 });
    fc.assert(
      fc.property(pushes, (steps) => {
        const ring = new SampleRing(64);
        let end = 0;
        let kept = 0;
        for (const { length, release } of steps) {
          ring.push(Int16Array.from({ length }, (_, n) => end + n));
          end += length;
          const expected = Array.from({ length: end - kept }, (_, n) => kept + n);
          expect(Array.from(ring.slice(kept, end))).toEqual(expected);
          expect(ring.end).toBe(end);
          kept = Math.min(kept + release, end);
          ring.release(kept);
        }
      }),
    );
  });

  it('leaves out what is released and what has not come', () => {
    const ring = new SampleRing(8);
    ring.push(Int16Array.of(0, 1, 2, 3, 4));
    ring.release(2);
    expect(Array.from(ring.slice(0, 100))).toEqual([2, 3, 4]);
    expect(ring.slice(7, 9)).toHaveLength(0);
  });

  it('refuses more than its limit with a coded error and stays usable', () => {
    const ring = new SampleRing(8);
    ring.push(new Int16Array(RING_LIMIT_SAMPLES));
    expect(() => ring.push(Int16Array.of(1))).toThrow(expect.objectContaining({ code: 'audio_too_fast' }));
    ring.release(1);
    ring.push(Int16Array.of(7));
    expect(Array.from(ring.slice(RING_LIMIT_SAMPLES, RING_LIMIT_SAMPLES + 1))).toEqual([7]);
  });
});

describe('Arrivals', () => {
  it('knows when the window before a sample was last added to', () => {
    const arrivals = new Arrivals();
    arrivals.note(0, 320, 20);
    arrivals.note(320, 640, 40);
    arrivals.note(640, 960, 60);
    expect([arrivals.at(1), arrivals.at(512), arrivals.at(513), arrivals.at(960)]).toEqual([40, 40, 60, 60]);
  });

  it('covers a push of many windows', () => {
    const arrivals = new Arrivals();
    arrivals.note(0, 512 * 1000, 7);
    expect([arrivals.at(1), arrivals.at(512 * 999)]).toEqual([7, 7]);
  });
});
