import { describe, expect, it } from 'vitest';
import { type OneUseStore, SharedOneUse } from '../../../src/calls/admission/shared-one-use.ts';
import { CallTokens } from '../../../src/calls/admission/tokens.ts';
import type { Clock } from '../../../src/foundation/clock.ts';
import { FakeClock, settle } from '../../fakes/clock.ts';

/** The table, which may be away, or say nothing. */
class Table implements OneUseStore {
  readonly kept = new Map<string, string>();
  how: 'there' | 'away' | 'silent' = 'there';

  async put(_kind: string, items: Parameters<OneUseStore['put']>[1]): Promise<void> {
    await this.#answer();
    for (const { key, content } of items) this.kept.set(key, content);
  }

  async take(_kind: string, key: string): Promise<string | null> {
    await this.#answer();
    const content = this.kept.get(key) ?? null;
    this.kept.delete(key);
    return content;
  }

  async drop(_kind: string, keys: readonly string[]): Promise<void> {
    await this.#answer();
    for (const key of keys) this.kept.delete(key);
  }

  #answer(): Promise<void> {
    if (this.how === 'silent') return new Promise(() => undefined);
    return this.how === 'there' ? Promise.resolve() : Promise.reject(new Error('away'));
  }
}

function begin(itemsMax = 10) {
  const [clock, store] = [new FakeClock(), new Table()];
  const open = () => new SharedOneUse<string>({ clock, store, itemsMax, kind: 'call-token' });
  return { clock, store, one: open(), two: open() };
}

/** What `asked` comes to, while time goes on. */
async function outcome(clock: FakeClock, asked: Promise<unknown>): Promise<unknown> {
  const told = asked.catch((error: { code: string }) => error.code);
  await clock.run(3000, 500);
  return told;
}

describe('things of one use that gateways share', () => {
  it('are taken by any of them, once', async () => {
    const { one, two } = begin();
    one.put('a', 'x');
    one.put('b', 'y');
    await one.settled();
    expect([await two.take('a'), await one.take('a'), await two.take('a')]).toEqual(['x', null, null]);
    const both = await Promise.all([one.take('b'), two.take('b'), one.take('b')]);
    expect(both.filter((value) => value !== null)).toEqual(['y']);
  });

  it('are taken by the one that has them while the table is away, once, and by nobody when it is back', async () => {
    const { clock, store, one, two } = begin();
    one.put('a', 'x');
    await one.settled();
    store.how = 'away';
    one.put('b', 'y');
    await settle();
    expect(await outcome(clock, one.take('a'))).toBe('x');
    expect(await outcome(clock, one.take('b'))).toBe('y');
    expect(await outcome(clock, one.take('a'))).toBe('shared_state_unavailable');
    expect(await outcome(clock, two.take('b'))).toBe('shared_state_unavailable');
    store.how = 'there';
    await clock.run(3000, 500);
    expect([...store.kept]).toEqual([]);
    expect([await two.take('a'), await two.take('b')]).toEqual([null, null]);
  });

  it('are written when the table is back, unless they have expired', async () => {
    const { clock, store, one, two } = begin();
    store.how = 'away';
    one.put('old', 'x');
    await clock.run(601_000, 60_000);
    one.put('new', 'y');
    store.how = 'there';
    await clock.run(3000, 500);
    expect([...store.kept.keys()]).toEqual(['new']);
    expect(await two.take('new')).toBe('y');
  });

  it('keep nobody waiting for a table that says nothing', async () => {
    const { clock, store, one, two } = begin();
    store.how = 'silent';
    one.put('a', 'x');
    let isSettled = false;
    void one.settled().then(() => {
      isSettled = true;
    });
    await clock.run(1000, 100);
    expect(isSettled).toBe(true);
    expect(await outcome(clock, two.take('a'))).toBe('shared_state_unavailable');
    expect(await outcome(clock, one.take('a'))).toBe('x');
  });

  it('are bounded: the oldest of a gateway goes, in the table too', async () => {
    const { one, two, store } = begin(2);
    for (const key of ['a', 'b', 'c']) one.put(key, key);
    await one.settled();
    await settle();
    expect([...store.kept.keys()]).toEqual(['b', 'c']);
    expect(await two.take('a')).toBeNull();
  });

  it('are bounded while the table is away: it is not told of what it never had', async () => {
    const { clock, store, one } = begin(2);
    const dropped: string[] = [];
    store.drop = async (_kind, keys) => void dropped.push(...keys);
    store.how = 'away';
    for (let n = 0; n < 1000; n++) one.put(`${n}`, 'x');
    store.how = 'there';
    await clock.run(10_000, 500);
    expect([...store.kept.keys()]).toEqual(expect.arrayContaining(['998', '999']));
    expect(dropped.length).toBeLessThan(10);
  });

  it('are nothing where another version has written what cannot be read', async () => {
    const { store, one } = begin();
    store.kept.set('a', 'no JSON');
    expect(await one.take('a')).toBeNull();
  });

  it('tell a token’s call at another gateway, and another call’s uses it up', async () => {
    const { clock, store } = begin();
    const [one, two] = [new CallTokens({ clock, store }), new CallTokens({ clock, store })];
    const known = { from: '+1', to: null, flow: 'shop' };
    const [token, other] = [one.issue({ callId: 'CA1', ...known }), one.issue({ callId: 'CA1', ...known })];
    await one.settled();
    expect(await two.redeem(token, 'CA1')).toEqual(known);
    expect([await two.redeem(other, 'CA2'), await one.redeem(other, 'CA1')]).toEqual([null, null]);
    const revoked = one.issue({ callId: 'CA1', ...known });
    await one.settled();
    one.revoke(revoked);
    await settle();
    expect(await two.redeem(revoked, 'CA1')).toBeNull();
  });
});

describe('call tokens while the table is away', () => {
  const known = { from: '+15550001', to: '+15550002', flow: 'shop', details: { callerName: 'Ann' } };
  const call = { callId: 'CA1', ...known };
  const clusterKey = 'the key of all gateways, 32 chars';

  function gateways() {
    const [clock, store] = [new FakeClock(), new Table()];
    const open = (key = clusterKey) => new CallTokens({ clock, store, clusterKey: key });
    return { clock, store, open, one: open(), two: open(), three: open() };
  }

  it('are good at other gateways, once at each, and nowhere when it is back', async () => {
    const { clock, store, one, two } = gateways();
    store.how = 'away';
    const token = one.issue(call);
    expect(await outcome(clock, two.redeem(token, 'CA1') as Promise<unknown>)).toEqual(known);
    expect(await outcome(clock, two.redeem(token, 'CA1') as Promise<unknown>)).toBeNull();
    store.how = 'there';
    await clock.run(3000, 500);
    expect([await one.redeem(token, 'CA1'), await two.redeem(token, 'CA1')]).toEqual([null, null]);
  });

  it('are not good a second time in another spelling of the same bytes', async () => {
    const { clock, store, one, two } = gateways();
    store.how = 'away';
    const token = one.issue(call);
    expect(await outcome(clock, two.redeem(token, 'CA1') as Promise<unknown>)).toEqual(known);
    const ends = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'];
    const bytes = Buffer.from(token, 'base64url');
    const others = [`${token}=`, ` ${token}`, ...ends.map((end) => token.slice(0, -1) + end)]
      .filter((other) => other !== token && Buffer.from(other, 'base64url').equals(bytes))
      .map((other) => two.redeem(other, 'CA1') as Promise<unknown>);
    expect(others.length).toBeGreaterThanOrEqual(2);
    for (const other of others) expect(await outcome(clock, other)).toBe('shared_state_unavailable');
  });

  it('are good for one of two that bring the same token to one gateway', async () => {
    const { clock, store, one, two } = gateways();
    store.how = 'silent';
    const token = one.issue(call);
    const both = Promise.all([two.redeem(token, 'CA1'), two.redeem(token, 'CA1')]);
    expect(await outcome(clock, both)).toEqual([known, null]);
  });

  it('are remembered by a gateway that saw them used, refused or taken back before', async () => {
    const { clock, store, one, two, three } = gateways();
    const [used, revoked] = [one.issue(call), one.issue(call)];
    await one.settled();
    expect(await two.redeem(used, 'CA1')).toEqual(known);
    expect(await three.redeem(used, 'CA1')).toBeNull();
    two.revoke(revoked);
    await settle();
    store.how = 'away';
    for (const [tokens, token] of [
      [two, used],
      [three, used],
      [two, revoked],
    ] as const)
      expect(await outcome(clock, tokens.redeem(token, 'CA1') as Promise<unknown>)).toBeNull();
  });

  it('are not good for another call, nor with another key, nor after a minute and what clocks may differ', async () => {
    const { clock, store, open, one, two } = gateways();
    store.how = 'away';
    const [other, foreign, old] = [one.issue(call), open(clusterKey.toUpperCase()).issue(call), one.issue(call)];
    const at = (token: string, callId = 'CA1') => outcome(clock, two.redeem(token, callId) as Promise<unknown>);
    expect(await at(other, 'CA2')).toBeNull();
    expect(await at(other)).toBeNull();
    expect(await at(foreign)).toBe('shared_state_unavailable');
    await clock.run(80_000, 1000);
    expect(await at(old)).toEqual(known);
    const older = one.issue(call);
    await clock.run(91_000, 1000);
    expect(await at(older)).toBe('shared_state_unavailable');
  });

  it('are good where the gateway that gave them out is 30 seconds ahead, and no further', async () => {
    const { clock, store, two } = gateways();
    store.how = 'away';
    const issuedAhead = (aheadMs: number): string => {
      return new CallTokens({ clock: faster(clock, aheadMs), store, clusterKey }).issue(call);
    };
    const [near, far] = [issuedAhead(29_000), issuedAhead(40_000)];
    expect(await outcome(clock, two.redeem(near, 'CA1') as Promise<unknown>)).toEqual(known);
    expect(await outcome(clock, two.redeem(far, 'CA1') as Promise<unknown>)).toBe('shared_state_unavailable');
  });

  it('fit into a parameter of a stream, and show neither numbers nor names', async () => {
    const { clock, store, one, two } = gateways();
    store.how = 'away';
    const long = { ...call, details: { callerName: 'Ann'.repeat(80), forwardedFrom: '+15550003' } };
    for (const each of [call, long]) {
      const token = one.issue(each);
      expect('token'.length + token.length).toBeLessThanOrEqual(500);
      expect(Buffer.from(token, 'base64url').toString('latin1')).not.toMatch(/555000|Ann|CA1|shop/);
    }
    const { details: _details, ...rest } = known;
    expect(await outcome(clock, two.redeem(one.issue(long), 'CA1') as Promise<unknown>)).toEqual(rest);
    const longer = one.issue({ ...call, from: `sip:${'x'.repeat(200)}`, to: `sip:${'x'.repeat(200)}` });
    expect(longer).toMatch(/^[\w-]{22}$/);
  });
});

/** A machine whose clock is ahead of `clock`. */
function faster(clock: FakeClock, aheadMs: number): Clock {
  return {
    nowMs: () => clock.nowMs(),
    wall: () => new Date(clock.wall().getTime() + aheadMs),
    after: (delayMs, action) => clock.after(delayMs, action),
    every: (periodMs, action) => clock.every(periodMs, action),
  };
}
