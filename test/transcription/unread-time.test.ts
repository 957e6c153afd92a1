import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UnreadTime } from '../../src/transcription/unread-time.ts';
import { FakeClock } from '../fakes/clock.ts';

const CHUNK_MS = 20;

/** A carrier that sends a chunk each 20 ms, whose socket is read, and paused, at the hand of the test. */
class Stream {
  readonly clock = new FakeClock();
  readonly unread = new UnreadTime(this.clock);
  /** What waits in the socket: when each chunk came, and where it ends. */
  readonly #waiting: { cameMs: number; endMs: number }[] = [];
  /** Of each chunk read so far: how much earlier or later than it came it is said to have come. */
  readonly errorsMs: number[] = [];
  #endMs = 0;
  #isPaused = false;

  /** Time passes; whatever comes is read unless the socket is paused. `jitterMs` at most may a chunk be late. */
  run(durationMs: number, jitterMs = 0): this {
    for (let ms = 0; ms < durationMs; ms += CHUNK_MS) {
      const lateMs = jitterMs === 0 ? 0 : (this.#endMs * 7) % jitterMs;
      this.clock.advance(CHUNK_MS);
      this.#endMs += CHUNK_MS;
      this.#waiting.push({ cameMs: this.clock.nowMs() + lateMs, endMs: this.#endMs });
      if (!this.#isPaused) this.read();
    }
    return this;
  }

  /** Sound gets lost on the carrier's side. */
  lose(durationMs: number, isTold: boolean): this {
    this.clock.advance(durationMs);
    if (isTold) this.#endMs += durationMs;
    return this;
  }

  read(most = Number.POSITIVE_INFINITY): this {
    for (const { cameMs, endMs } of this.#waiting.splice(0, most))
      this.errorsMs.push(this.unread.arrivedAtMs(endMs) - cameMs);
    return this;
  }

  pause(): this {
    this.#isPaused = true;
    this.unread.pause();
    return this;
  }

  resume(): this {
    this.#isPaused = false;
    this.unread.resume();
    return this;
  }

  get worstMs(): number {
    return Math.max(0, ...this.errorsMs.map(Math.abs));
  }
}

describe('the time that sound waited unread', () => {
  it('is none while the socket is read', () => {
    expect(new Stream().run(2000).worstMs).toBe(0);
  });

  it('is told of all that came in a pause', () => {
    const stream = new Stream().run(1000).pause().run(12_000).resume().read().run(1000);
    expect(stream.worstMs).toBe(0);
    expect(stream.errorsMs).toHaveLength(14_000 / CHUNK_MS);
  });

  it('is told through pause after pause, until everything was read', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ pauseMs: fc.integer({ min: 20, max: 4000 }), chunks: fc.integer({ min: 1, max: 200 }) })),
        (turns) => {
          const stream = new Stream().run(500);
          for (const { pauseMs, chunks } of turns) stream.pause().run(pauseMs).resume().read(chunks);
          stream.read().run(200);
          expect(stream.worstMs).toBe(0);
        },
      ),
    );
  });

  it('counts what had been read of the socket when it was paused as come', () => {
    const stream = new Stream().run(1000);
    stream.pause();
    expect([1020, 1040, 1060].map((endMs) => stream.unread.arrivedAtMs(endMs))).toEqual([1000, 1000, 1000]);
  });

  it('is none for a carrier that cannot be paused', () => {
    const stream = new Stream().run(1000);
    stream.unread.pause();
    stream.run(3000);
    stream.unread.resume();
    expect(stream.run(1000).worstMs).toBe(0);
  });

  it('never begins before the pause, and is not told of the first chunk of all', () => {
    const clock = new FakeClock();
    const unread = new UnreadTime(clock);
    clock.advance(500);
    unread.pause();
    clock.advance(500);
    unread.resume();
    expect(unread.arrivedAtMs(20)).toBe(1000);
    clock.advance(60_000);
    unread.pause();
    clock.advance(1000);
    unread.resume();
    expect(unread.arrivedAtMs(40)).toBe(61_000);
  });

  it('has no end that had no beginning', () => {
    const stream = new Stream().run(1000).resume();
    stream.clock.advance(3000);
    expect(stream.run(1000).worstMs).toBe(0);
  });

  it('knows of sound that a carrier dropped meanwhile and says so', () => {
    const stream = new Stream().run(1000).pause().run(2000).lose(3000, true).run(1000).resume().read().run(2000);
    expect(stream.worstMs).toBe(0);
  });

  it('is over a second after reading went on where a carrier dropped sound and does not say so', () => {
    const stream = new Stream().run(1000).pause().run(2000).lose(3000, false).run(1000).resume().read().run(2000);
    expect(stream.worstMs).toBe(3000);
    expect(stream.errorsMs.slice(-45).every((errorMs) => errorMs === 0)).toBe(true);
  });

  it('is none of a carrier that sends faster than its sound plays, once it has caught up', () => {
    const clock = new FakeClock();
    const unread = new UnreadTime(clock);
    expect(unread.arrivedAtMs(20)).toBe(0);
    unread.pause();
    clock.advance(1000);
    unread.resume();
    expect(unread.arrivedAtMs(40)).toBe(20);
    expect(unread.arrivedAtMs(5000)).toBe(1000);
    expect(unread.arrivedAtMs(5020)).toBe(1000);
  });
});
