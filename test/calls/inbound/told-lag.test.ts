/** `lagMs` as a caption tells it, beside how late the caption is by the clock of whoever speaks. */
import { describe, expect, it } from 'vitest';
import type { CaptionEvent } from '../../../src/calls/feed/events.ts';
import { FRAME_MS } from '../../../src/foundation/units.ts';
import { settle } from '../../fakes/clock.ts';
import { type Caller, type Gateway, startCalls } from '../harness.ts';

/** Audio kept behind the last speech, as POST_ROLL_MS has it: the last sound used. */
const POST_ROLL_MS = 100;
/** When sound came is known to a detector's window (32 ms) and a frame. */
const PRECISION_MS = 32 + FRAME_MS;

interface Told {
  readonly caption: CaptionEvent;
  /** From the sending of the last sound used to the caption. */
  readonly trueMs: number;
}

/** A caller whose carrier sends a frame each 20 ms, into a socket that may not be read. */
class LiveCaller {
  readonly gateway: Gateway = startCalls({ LIVE_LAG_MAX_MS: '60000' });
  readonly caller: Caller = this.gateway.dial().start();
  readonly told: Told[] = [];
  readonly #startMs = this.gateway.clock.nowMs();
  readonly #unread: (() => void)[] = [];

  constructor() {
    const { context, clock } = this.gateway;
    context.feed.subscribe({}, ({ event }) => {
      if (event.type !== 'caption') return;
      const usedToMs = event.final ? event.endMs + POST_ROLL_MS : event.endMs;
      this.told.push({ caption: event, trueMs: clock.nowMs() - this.#startMs - usedToMs });
    });
  }

  speak(durationMs: number): Promise<void> {
    return this.#send(durationMs, () => this.caller.speak(FRAME_MS));
  }

  hush(durationMs: number): Promise<void> {
    return this.#send(durationMs, () => this.caller.hush(FRAME_MS));
  }

  async lose(): Promise<void> {
    await this.#send(FRAME_MS, () => this.caller.lose(FRAME_MS));
  }

  async #send(durationMs: number, frame: () => void): Promise<void> {
    for (let ms = 0; ms < durationMs; ms += FRAME_MS) {
      this.gateway.clock.advance(FRAME_MS);
      this.#unread.push(frame);
      await settle();
      while (!this.caller.socket.isPaused && this.#unread.length > 0) {
        this.#unread.shift()?.();
        await settle();
      }
    }
  }
}

describe('the lag that captions tell', () => {
  it('is the true one while the engines are in time', async () => {
    const call = new LiveCaller();
    await call.speak(1000);
    await call.hush(1000);
    const { caption, trueMs } = call.told.at(-1) as Told;
    expect(caption.final).toBe(true);
    expect(Math.abs(caption.lagMs - trueMs)).toBeLessThanOrEqual(PRECISION_MS);
  });

  it('counts the time in which nothing was read, for everything that waited', async () => {
    const call = new LiveCaller();
    await call.speak(500);
    call.gateway.engine.held = true;
    for (let utterance = 1; utterance <= 4; utterance++) {
      await call.speak(2500);
      await call.hush(1000);
    }
    expect(call.caller.socket.isPaused).toBe(false);
    call.gateway.engine.release();
    await call.hush(1000);
    const finals = call.told.filter(({ caption }) => caption.final);
    expect(finals).toHaveLength(4);
    expect(Math.max(...finals.map(({ trueMs }) => trueMs))).toBeGreaterThan(10_000);
    for (const { caption, trueMs } of finals)
      expect(Math.abs(caption.lagMs - trueMs)).toBeLessThanOrEqual(PRECISION_MS);
  });

  it('counts the time in which sound was held back for a frame that was lost', async () => {
    for (let lostAtMs = 0; lostAtMs < 200; lostAtMs += FRAME_MS) {
      const call = new LiveCaller();
      await call.speak(1000);
      await call.hush(lostAtMs);
      await call.lose();
      await call.hush(800);
      const { caption, trueMs } = call.told.findLast((each) => each.caption.final) as Told;
      expect(caption.lagMs).toBeGreaterThanOrEqual(trueMs - PRECISION_MS - FRAME_MS);
    }
  });
});
