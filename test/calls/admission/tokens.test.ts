import { describe, expect, it } from 'vitest';
import { CallTokens } from '../../../src/calls/admission/tokens.ts';
import { FakeClock } from '../../fakes/clock.ts';

const CALL = { callId: 'CA1', from: '+15550001', to: '+15550002' };
const PARTIES = { from: '+15550001', to: '+15550002' };

describe('CallTokens', () => {
  it('gives back what the token was issued with', () => {
    const tokens = new CallTokens({ clock: new FakeClock() });
    expect(tokens.redeem(tokens.issue(CALL), 'CA1')).toEqual(PARTIES);
  });

  it('takes a token once', () => {
    const tokens = new CallTokens({ clock: new FakeClock() });
    const token = tokens.issue(CALL);
    void tokens.redeem(token, 'CA1');
    expect(tokens.redeem(token, 'CA1')).toBeNull();
  });

  it("refuses another call's token and uses it up", () => {
    const tokens = new CallTokens({ clock: new FakeClock() });
    const token = tokens.issue(CALL);
    expect(tokens.redeem(token, 'CA2')).toBeNull();
    expect(tokens.redeem(token, 'CA1')).toBeNull();
  });

  it('refuses a token that it never issued', () => {
    expect(new CallTokens({ clock: new FakeClock() }).redeem('guess', 'CA1')).toBeNull();
  });

  it('takes a token up to ten minutes after its issue and not after', () => {
    const clock = new FakeClock();
    const tokens = new CallTokens({ clock });
    const [early, late] = [tokens.issue(CALL), tokens.issue(CALL)];
    clock.advance(599_999);
    expect(tokens.redeem(early, 'CA1')).toEqual(PARTIES);
    clock.advance(1);
    expect(tokens.redeem(late, 'CA1')).toBeNull();
    expect(clock.pending).toBe(0);
  });

  it('forgets the oldest token when more than ten thousand are outstanding', () => {
    const tokens = new CallTokens({ clock: new FakeClock() });
    const issued = Array.from({ length: 10_001 }, () => tokens.issue(CALL));
    expect(tokens.redeem(issued[0] ?? '', 'CA1')).toBeNull();
    expect(tokens.redeem(issued[1] ?? '', 'CA1')).toEqual(PARTIES);
  });

  it('issues tokens of 128 bits that are safe in URLs and never repeat', () => {
    const tokens = new CallTokens({ clock: new FakeClock() });
    const issued = Array.from({ length: 1000 }, () => tokens.issue(CALL));
    expect(new Set(issued).size).toBe(1000);
    for (const token of issued) expect(token).toMatch(/^[\w-]{22}$/);
  });
});
