/** Whatever a flow says and whatever its caller does: it ends, it tells so once, and leaves nothing behind. */
import { describe, expect, it } from 'vitest';
import { Random } from '../../fuzz/random.ts';
import { FlowCall } from './flow-call.ts';
import { randomFlows } from './random-flow.ts';

const CALLS = 300;
const ACTIONS = 40;
const WORDS = ['yes', 'no', '1 2 3', 'bravo', 'on Friday at ten', '', 'mhm', 'x'.repeat(5000)];

async function act(call: FlowCall, random: Random): Promise<void> {
  switch (random.below(11)) {
    case 0:
      await call.press(random.pick([...'0123456789*#']), random.below(2) === 0);
      return;
    case 1:
      for (const key of '12#*0') call.app.onDtmf(key);
      return;
    case 2:
      await call.say(random.pick(WORDS), { cuts: random.below(2) === 0, confidence: random.below(100) / 100 });
      return;
    case 3:
      call.begins();
      return;
    case 4:
      call.ends_(random.pick(WORDS));
      return;
    case 5:
      call.voice.interrupt();
      return;
    case 6:
      await call.listen();
      return;
    case 7:
      call.voice.finish();
      await call.settled();
      return;
    case 8:
      await call.wait(random.below(3000));
      return;
    case 9:
      call.app.mute(random.below(2) === 0);
      return;
    default:
      await call.hear();
  }
}

describe('random flows with random callers', () => {
  it('end, once, and leave nothing behind', async () => {
    const outcomes = new Map<string, number>();
    for (let seed = 1; seed <= CALLS; seed++) {
      const random = new Random(seed);
      const recordings = { find: () => (random.below(2) === 0 ? null : { samples: new Int16Array(8), rateHz: 8000 }) };
      const call = new FlowCall(randomFlows(random), { recordings });
      const hangsUpAfter = random.below(4) === 0 ? random.below(ACTIONS) : ACTIONS;
      for (let n = 0; n < hangsUpAfter; n++) await act(call, random);
      if (hangsUpAfter < ACTIONS) call.app.close();
      call.app.mute(false);
      for (let n = 0; n < 20 && call.end === null; n++) {
        await call.hear();
        await call.wait(6000);
      }
      await call.hear();
      const outcome = call.end?.split(' ')[0] ?? 'none';
      const left = { seed, outcome, failures: call.failures, pending: call.clock.pending, ends: call.ends.length };
      const isHangup = hangsUpAfter < ACTIONS;
      expect(left).toEqual({
        seed,
        outcome: expect.stringMatching(isHangup ? /^(hangup|done|failed)$/ : /^(done|failed)$/),
        failures: [],
        pending: 0,
        ends: isHangup ? expect.any(Number) : 1,
      });
      expect(call.privacy.filter((isOn) => isOn)).toHaveLength(call.privacy.filter((isOn) => !isOn).length);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    expect([...outcomes.keys()].sort()).toEqual(['done', 'failed', 'hangup']);
  });
});
