import { describe, expect, it } from 'vitest';
import { type OneUseStore, SharedOneUse } from '../../../src/calls/admission/shared-one-use.ts';
import { CallTokens } from '../../../src/calls/admission/tokens.ts';
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
