/** A flow that was put away as JSON at any step goes on as the one that was not. */
import { describe, expect, it } from 'vitest';
import type { FlowSet } from '../../../src/flows/file/flow.ts';
import { type FlowSnapshot, readFlowSnapshot } from '../../../src/flows/run/flow-snapshot.ts';
import { Random } from '../../fuzz/random.ts';
import { FlowCall, flowOf } from './flow-call.ts';
import { randomFlows } from './random-flow.ts';

const RECORDINGS = { find: () => null };
/** What callers do, by name: the same for a flow and for its twin. */
const ACTIONS: Readonly<Record<string, (call: FlowCall) => Promise<unknown>>> = {
  'press 1': (call) => call.press('1'),
  'press 2': (call) => call.press('2'),
  'press *': (call) => call.press('*'),
  'say yes': (call) => call.say('yes'),
  'say bravo': (call) => call.say('bravo'),
  'say nothing': (call) => call.wait(7000),
};
const NAMES = Object.keys(ACTIONS);

/** A call in which the flow goes on where `call` has it now. */
function twinOf(call: FlowCall, set: FlowSet): FlowCall {
  const json = JSON.stringify(call.app.snapshot());
  return new FlowCall(set, { recordings: RECORDINGS, restored: readFlowSnapshot(json, set) });
}

/** What the record and the caller have had since. */
function since(call: FlowCall, news: number, said: number) {
  return { news: call.news.slice(news), said: call.said.slice(said), end: call.end };
}

/** The last thing of what happened since there were `before` news is that a step began. */
function hasJustEntered({ news, end }: FlowCall, before: number): boolean {
  return end === null && news.length > before && news.at(-1)?.type === 'flow.step';
}

describe('the state of a flow', () => {
  it('leads to the same next steps at every step of random flows', async () => {
    let compared = 0;
    for (let seed = 1; seed <= 300; seed++) {
      const random = new Random(seed);
      const set = randomFlows(random);
      const call = new FlowCall(set, { recordings: RECORDINGS });
      await call.settled();
      let known = 0;
      for (let n = 0; n < 25 && call.end === null; n++) {
        const action = ACTIONS[random.pick(NAMES)] ?? ((same: FlowCall) => same.hear());
        const twin = hasJustEntered(call, known) ? twinOf(call, set) : null;
        known = call.news.length;
        const entry = call.news.at(-1);
        await twin?.settled();
        // A flow that is over its limits enters nothing more.
        const again = twin?.news[1];
        if (again !== undefined) expect({ seed, n, news: again }).toEqual({ seed, n, news: entry });
        await call.hear();
        await twin?.hear();
        const [before, twinBefore] = [call, twin].map((one) => [one?.news.length ?? 0, one?.said.length ?? 0] as const);
        await action(call);
        if (twin !== null) {
          await action(twin);
          const [at = 0, saidAt = 0] = before ?? [];
          const [twinAt = 0, twinSaidAt = 0] = twinBefore ?? [];
          expect({ seed, n, ...since(twin, twinAt, twinSaidAt) }).toEqual({ seed, n, ...since(call, at, saidAt) });
          twin.app.close();
          compared++;
        }
      }
      call.app.close();
    }
    expect(compared).toBeGreaterThan(200);
  });

  const SHOP = `
start: name
parameters: { shop: none }
variables: { colour: null }
keys: { '*': back }
failed: sorry
limits: { steps: 9, timeMs: 60000 }
steps:
  name: { gather: { kind: digits, max: 2, into: number, prompt: Number? }, next: inner }
  inner: { flow: ask }
  sorry: { say: Sorry. }
`;
  const ASK = "start: q\nvariables: { a: 1 }\nsteps:\n  q: { confirm: { prompt: 'Sure, {a}?', yes: end, no: end } }";

  it('has the flows under way, their variables, what was asked, and what was spent of their limits', async () => {
    const call = new FlowCall(SHOP, { others: { ask: ASK }, parameters: { shop: 'north' } });
    await (await call.hear()).press('42');
    await call.hear();
    await call.wait(1000);
    expect(call.app.snapshot()).toMatchObject({
      version: 1,
      flow: 'shop',
      frames: [
        { flow: 'shop', at: 'inner', values: { shop: 'north', number: '42', colour: null } },
        { flow: 'ask', at: 'q', values: { a: 1 } },
      ],
      asked: [
        { depth: 0, step: 'name' },
        { depth: 1, step: 'q' },
      ],
      steps: 2,
      visits: { 'shop name': 1, 'shop inner': 1, 'ask q': 0 },
      elapsedMs: expect.any(Number),
    });
    expect(call.app.snapshot().elapsedMs).toBeGreaterThanOrEqual(1000);
    call.app.close();
  });

  it('knows the way back to the questions before', async () => {
    const shop = flowOf(SHOP);
    const flows = new Map([
      ['shop', shop],
      ['ask', flowOf(ASK, 'ask')],
    ]);
    const set = { name: 'shop', version: '0000abcd', main: shop, flows };
    const call = new FlowCall(set);
    await (await call.hear()).press('42');
    const twin = twinOf(await call.hear(), set);
    await (await twin.hear()).press('*');
    expect(twin.steps).toEqual(['q', 'name']);
    for (const one of [call, twin]) one.app.close();
  });

  const SET = (): FlowSet => {
    const main = flowOf('start: a\nsteps:\n  a: { say: Hello. }');
    return { name: 'shop', version: '0000abcd', main, flows: new Map([['shop', main]]) };
  };
  const STATE: FlowSnapshot = {
    version: 1,
    flow: 'shop',
    flowVersion: '0000abcd',
    frames: [{ flow: 'shop', values: {}, at: 'a', isFailing: false }],
    spoken: { language: null, voice: null },
    asked: [],
    visits: {},
    steps: 0,
    elapsedMs: 0,
    by: null,
  };

  it.each([
    ['of another version of the program', { version: 2 }, 'cannot be read'],
    ['of another flow', { flow: 'other' }, 'is one of the flow other 0000abcd, expected one of shop 0000abcd'],
    ['of the flow before it was changed', { flowVersion: '1' }, 'is one of the flow shop 1'],
    ['at a step that there is not', { frames: [{ ...STATE.frames[0], at: 'b' }] }, 'the flow shop has no step b'],
    ['with a value that is none', { frames: [{ ...STATE.frames[0], values: { a: {} } }] }, 'cannot be read'],
    ['with more than it has', { more: 1 }, 'cannot be read'],
  ])('is refused where it is %s', (_what, changes, message) => {
    expect(() => readFlowSnapshot(JSON.stringify({ ...STATE, ...changes }), SET())).toThrow(message);
    expect(readFlowSnapshot(JSON.stringify(STATE), SET())).toEqual(STATE);
  });
});
