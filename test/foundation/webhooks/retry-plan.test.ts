import { describe, expect, it } from 'vitest';
import { afterAttempt, FOR_DAYS, WITHIN_HOURS } from '../../../src/foundation/webhooks/retry-plan.ts';
import type { WebhookOutcome } from '../../../src/foundation/webhooks/send-webhook.ts';
import { signWebhook } from '../../../src/foundation/webhooks/sign-webhook.ts';

const FAILED: WebhookOutcome = { isDelivered: false, answer: '500', retryAfterMs: null };
const DELIVERED = { isDelivered: true, answer: '204', retryAfterMs: null };
const HOUR_MS = 3_600_000;

/** The waits after `attempts` failures in a row. */
function waits(plan: typeof FOR_DAYS, attempts: number, outcome = FAILED): (number | null)[] {
  return Array.from(
    { length: attempts },
    (_, made) => afterAttempt(plan, { attempts: made, ageMs: 0 }, outcome).againInMs,
  );
}

describe('a webhook that was not taken', () => {
  it('of a batch or a file is sent six times, and then given up', () => {
    expect(waits(WITHIN_HOURS, 6)).toEqual([1000, 10_000, 60_000, 600_000, HOUR_MS, null]);
    expect(afterAttempt(WITHIN_HOURS, { attempts: 5, ageMs: 0 }, FAILED)).toMatchObject({
      state: 'failed',
      attempts: 6,
    });
  });

  it('of a call is sent ever later, at least every hour, until it is three days old', () => {
    const delays = waits(FOR_DAYS, 12);
    for (const [made, delay] of delays.entries()) {
      const longestMs = Math.min(5000 * 4 ** made, HOUR_MS);
      expect(delay).toBeLessThanOrEqual(longestMs);
      expect(delay).toBeGreaterThanOrEqual(longestMs * 0.8);
    }
    const state = (ageMs: number) => afterAttempt(FOR_DAYS, { attempts: 80, ageMs }, FAILED).state;
    expect([state(70 * HOUR_MS), state(71.5 * HOUR_MS)]).toEqual(['waiting', 'failed']);
  });

  it('waits for as long as its receiver asks, but only so long', () => {
    const asks = (retryAfterMs: number) => ({ ...FAILED, answer: '503', retryAfterMs });
    expect(waits(WITHIN_HOURS, 4, asks(30_000))).toEqual([30_000, 30_000, 60_000, 600_000]);
    expect(waits(WITHIN_HOURS, 4, asks(1e9))).toEqual([600_000, 600_000, 600_000, 600_000]);
    expect(waits(FOR_DAYS, 2, asks(1e9))).toEqual([24 * HOUR_MS, 24 * HOUR_MS]);
  });

  it('is given up at once when its receiver says that nobody wants it', () => {
    for (const plan of [WITHIN_HOURS, FOR_DAYS])
      expect(afterAttempt(plan, { attempts: 0, ageMs: 0 }, { ...FAILED, answer: '410' })).toEqual({
        state: 'failed',
        attempts: 1,
        againInMs: null,
        answer: '410',
      });
  });
});

it('a webhook that was taken is not sent again', () => {
  const after = afterAttempt(FOR_DAYS, { attempts: 2, ageMs: 0 }, DELIVERED);
  expect(after).toEqual({ state: 'delivered', attempts: 3, againInMs: null, answer: '204' });
});

it('a webhook is signed as Standard Webhooks signs its own example', () => {
  const example = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: '1614265330', body: '{"test": 2432232314}' };
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  expect(signWebhook({ ...example, secret })).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});
