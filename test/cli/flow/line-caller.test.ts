import { describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../../src/calls/feed/events.ts';
import { LineCaller } from '../../../src/cli/flow/line-caller.ts';
import { Patience } from '../../../src/cli/flow/patience.ts';
import { ObservedCall } from '../../../src/flows/testing/observed-call.ts';
import { FakeClock } from '../../fakes/clock.ts';

/** A caller on a line whose time is the clock's; what it says takes a second. */
function callerOn(clock: FakeClock): LineCaller {
  const line = {
    callId: 'c',
    get sentMs() {
      return clock.nowMs();
    },
    speak: (samples: Int16Array, fromMs: number) => fromMs + samples.length / 8,
    press: () => undefined,
    hangUp: () => undefined,
    run: () => new Promise<void>(() => undefined),
  };
  return new LineCaller({ line, observed: new ObservedCall(), clock, speech: async () => new Int16Array(8000) });
}

const caption = (endMs: number, final = true, track = 'inbound'): FeedEvent =>
  ({ type: 'caption', callId: 'c', track, final, text: 'yes', endMs }) as FeedEvent;

/** After what time a wait of 2500 ms was given up, from the end of what was said; `events` come meanwhile. */
async function givesUpAfter(events: readonly { readonly atMs: number; readonly event: FeedEvent }[]): Promise<number> {
  const clock = new FakeClock();
  const caller = callerOn(clock);
  const said = caller.say('yes');
  await clock.run(1400);
  await said;
  const beganMs = clock.nowMs();
  for (const { atMs, event } of events) clock.after(atMs, () => caller.onEvent(event));
  let gaveUpMs = Number.NaN;
  void caller
    .until(() => false, 2500)
    .then(() => {
      gaveUpMs = clock.nowMs() - beganMs;
    });
  await clock.run(70_000);
  return gaveUpMs;
}

describe('a caller of a test', () => {
  it('waits as long as told where speech is recognised in time', async () => {
    expect(await givesUpAfter([{ atMs: 900, event: caption(1300) }])).toBeCloseTo(2500, -2);
  });

  it('does not count the time that a busy engine takes to recognise what was said', async () => {
    expect(await givesUpAfter([{ atMs: 20_000, event: caption(1300) }])).toBeCloseTo(20_500, -2);
  });

  it('does not take a caption that goes on, or one of what was said before, for all that was said', async () => {
    const early = [
      { atMs: 100, event: caption(1300, false) },
      { atMs: 200, event: caption(-500) },
      { atMs: 300, event: caption(1300, true, 'outbound') },
    ];
    expect(await givesUpAfter([...early, { atMs: 20_000, event: caption(1300) }])).toBeCloseTo(20_500, -2);
  });

  it('has as much patience with each thing that is said', () => {
    const patience = new Patience();
    for (const endMs of [1000, 9000]) {
      patience.onSaid(endMs);
      expect([patience.countOf(2000), patience.countOf(1)]).toEqual([2000, 0]);
    }
  });

  it('gives speech up of which nothing is recognised', async () => {
    expect(await givesUpAfter([])).toBeCloseTo(60_500, -2);
  });

  it('does not count the time for which its own process stands still', async () => {
    const clock = new FakeClock();
    const caller = callerOn(clock);
    let isOver = false;
    void caller
      .until(() => false, 2500)
      .then(() => {
        isOver = true;
      });
    await clock.run(1000);
    clock.stall(10_000);
    await clock.run(1000);
    expect(isOver).toBe(false);
    await clock.run(1000);
    expect(isOver).toBe(true);
  });
});
