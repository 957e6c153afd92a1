import { describe, expect, it } from 'vitest';
import { Outage } from '../../../../src/carriers/asterisk/ari/outage.ts';
import { FakeClock } from '../../../fakes/clock.ts';

/** Fails every ten seconds for `reasons`, in turns. */
function fail(seconds: number, ...reasons: string[]) {
  const clock = new FakeClock();
  const outage = new Outage(clock);
  const told: string[] = [];
  for (let atS = 0; atS < seconds; atS += 10) {
    const reason = reasons[(atS / 10) % reasons.length] ?? '';
    const what = outage.failed(reason);
    if (what !== 'known') told.push(`${atS} s: ${what} ${reason}`);
    clock.advance(10_000);
  }
  return { outage, told };
}

describe('a connection that cannot be had', () => {
  it('has each of its reasons told once, and is brought to mind every ten minutes', () => {
    expect(fail(1900, 'refused', 'late').told).toEqual([
      '0 s: new refused',
      '10 s: new late',
      '610 s: reminder late',
      '1210 s: reminder late',
      '1810 s: reminder late',
    ]);
  });

  it('has no more than eight reasons, whatever the other side says', () => {
    const { outage, told } = fail(590, ...Array.from({ length: 59 }, (_, i) => `reason ${i}`));
    expect([told.length, outage.summary.reasons.length]).toEqual([8, 8]);
  });

  it('is summed up when it is over, and begins anew', () => {
    const { outage } = fail(30, 'refused', 'late');
    expect(outage.over()).toEqual({ attempts: 3, lastedMs: 30_000, reasons: ['refused', 'late'] });
    expect([outage.over(), outage.failed('refused')]).toEqual([null, 'new']);
  });
});
