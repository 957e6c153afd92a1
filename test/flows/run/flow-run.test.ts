/** Flows in calls: where they go, what the caller hears, and how they end. */
import { describe, expect, it } from 'vitest';
import { StepFailure } from '../../../src/flows/verbs/step.ts';
import { STEP_RUNNERS } from '../../../src/flows/verbs/table.ts';
import { FlowCall } from './flow-call.ts';

const SHOP = `
start: welcome
keys: { '0': person, '*': back }
steps:
  welcome: { say: Welcome., next: menu }
  menu:
    menu:
      prompt: Hours or repairs?
      choices:
        hours: { key: '1', say: [hours], next: hours }
        repairs: { key: '2', say: [repairs], next: repairs }
    next: bye
  hours: { say: From nine to five., next: more }
  repairs: { say: Any morning., next: more }
  more:
    confirm: { prompt: Anything else?, yes: menu, no: bye, noInput: { next: bye } }
  bye: { hangup: { prompt: Goodbye., handoffData: { from: '{call.from}' } } }
  person: { hangup: { prompt: One moment. } }
`;

const say = (...steps: string[]) => `start: s1\nsteps:\n${steps.map((step) => `  ${step}\n`).join('')}`;

describe('a flow', () => {
  it('tells that it has begun, each step, each answer and its end, and then ends the call', async () => {
    const call = new FlowCall(SHOP);
    await call.hear();
    await call.press('1');
    await call.hear();
    await call.say('No, thank you.');
    await call.hear();
    expect(call.said).toEqual(['Welcome.', 'Hours or repairs?', 'From nine to five.', 'Anything else?', 'Goodbye.']);
    expect(call.news).toEqual([
      { type: 'flow.started', flow: 'shop', version: expect.stringMatching(/^[0-9a-f]{8}$/) },
      { type: 'flow.step', flow: 'shop', step: 'welcome', verb: 'say' },
      { type: 'flow.step', flow: 'shop', step: 'menu', verb: 'menu' },
      { type: 'flow.input', flow: 'shop', step: 'menu', kind: 'keys', outcome: 'match', text: '1', value: 'hours' },
      { type: 'flow.step', flow: 'shop', step: 'hours', verb: 'say' },
      { type: 'flow.step', flow: 'shop', step: 'more', verb: 'confirm' },
      expect.objectContaining({ kind: 'speech', outcome: 'match', text: 'No, thank you.', value: false }),
      { type: 'flow.step', flow: 'shop', step: 'bye', verb: 'hangup' },
      { type: 'flow.ended', flow: 'shop', outcome: 'done', step: 'bye', reason: null },
    ]);
    expect(call.ends).toEqual([{ handoffData: '{"from":"+15550100"}', reason: 'app' }]);
    expect(call.clock.pending).toBe(0);
    expect(call.failures).toEqual([]);
  });

  it('ends with its last step when nothing follows, after what it said was heard', async () => {
    const call = new FlowCall(say('s1: { say: One., next: s2 }', 's2: { say: Two. }'));
    await call.settled();
    call.voice.finish();
    await call.settled();
    expect([call.said, call.end]).toEqual([['One.', 'Two.'], null]);
    await call.hear();
    expect([call.end, call.ends]).toEqual(['done in s2', [{ handoffData: null, reason: 'app' }]]);
  });

  it('says nothing and tells nothing in a call that is over at once', async () => {
    const call = new FlowCall(SHOP);
    call.app.close();
    await call.hear();
    expect(call.said).toEqual([]);
    expect(call.steps).toEqual([]);
  });

  it.each([
    ['while a prompt is said', async (call: FlowCall) => call.listen(), 'hangup in welcome'],
    ['at a question', async (call: FlowCall) => call.hear(), 'hangup in menu'],
    [
      'while goodbye is said',
      async (call: FlowCall) => {
        await (await call.hear()).press('1');
        await (await call.hear()).say('no');
      },
      'done in bye',
    ],
  ])('knows that the caller left %s', async (_when, until, end) => {
    const call = new FlowCall(SHOP);
    await until(call);
    call.app.close();
    call.voice.interrupt();
    await call.hear();
    await call.wait(60_000);
    expect([call.end, call.ends, call.clock.pending]).toEqual([end, [], 0]);
  });
});

describe('global keys', () => {
  it('lead to their step from a question that does not take them', async () => {
    const call = await new FlowCall(SHOP).hear();
    await call.press('0');
    expect(call.steps).toEqual(['welcome', 'menu', 'person']);
  });

  it('work while something is said, and cut it off', async () => {
    const call = await new FlowCall(SHOP).listen();
    await call.press('0');
    await call.hear();
    expect([call.said, call.end]).toEqual([['Welcome.', 'One moment.'], 'done in person']);
  });

  it('are taken by a question that asks for them', async () => {
    const call = new FlowCall(`
start: number
keys: { '1': end }
steps:
  number: { gather: { kind: digits, into: n, max: 3, prompt: Which? } }
`);
    await (await call.hear()).press('111');
    expect(call.inputs).toEqual(['keys match 111 = 111']);
  });

  it('do not reach what follows when one ends digits that were all there already', async () => {
    const call = new FlowCall(`
start: number
keys: { '0': other }
steps:
  number: { gather: { kind: digits, into: n, max: 3, prompt: Which? }, next: answer }
  answer: { say: 'Thank you.', next: more }
  more: { confirm: { prompt: More?, yes: number, no: end } }
  other: { say: Other. }
`);
    await (await call.hear()).press('111#');
    expect(call.inputs).toEqual(['keys match 111 = 111']);
    expect(call.voice.asked.at(-1)).toMatchObject({ text: 'Thank you.', options: { interruptible: 'speech' } });
    await call.press('0');
    expect(call.said.at(-1)).toBe('Other.');
  });

  it('lead back to the question before, and to this one again where there is none', async () => {
    const call = await new FlowCall(SHOP).hear();
    await call.press('1');
    await call.hear();
    await call.press('*');
    expect(call.steps).toEqual(['welcome', 'menu', 'hours', 'more', 'menu']);
    await call.hear();
    await call.press('*');
    expect(call.steps.at(-1)).toBe('menu');
    await call.hear();
    expect(call.said.filter((text) => text === 'Hours or repairs?')).toHaveLength(3);
  });

  it('do nothing while something is said that keys cannot cut off', async () => {
    const call = new FlowCall(SHOP.replace('say: Welcome.', 'say: { text: Welcome., bargeIn: none }'));
    await call.listen();
    await call.press('0');
    await call.hear();
    expect(call.steps).toEqual(['welcome', 'menu']);
  });

  it('of a flow lead out of those that it calls, unless these have their own', async () => {
    const main = `
start: sub
keys: { '0': person, '9': bye }
steps:
  sub: { flow: { name: inner } }
  person: { hangup: {} }
  bye: { hangup: {} }
`;
    const inner = `
start: ask
keys: { '9': other }
steps:
  ask: { confirm: { prompt: Yes?, yes: end, no: end } }
  other: { say: Other., next: ask }
`;
    const outer = await new FlowCall(main, { others: { inner } }).hear();
    await outer.press('0');
    expect([outer.steps, outer.end]).toEqual([['sub', 'ask', 'person'], 'done in person']);
    const own = await new FlowCall(main, { others: { inner } }).hear();
    await own.press('9');
    expect(own.steps).toEqual(['sub', 'ask', 'other']);
  });
});

describe('flows that are called', () => {
  const ASK = `
start: ask
parameters: { what: number, times: 1 }
steps:
  ask: { gather: { kind: digits, into: answer, max: 2, prompt: 'Which {what}?' }, next: done }
  done: { set: { answer: '{answer}{times}' } }
`;

  it('get values, and give some back', async () => {
    const call = new FlowCall(
      say(
        "s1: { flow: { name: ask, with: { what: '{call.from}', times: 7 }, into: { order: answer } }, next: s2 }",
        "s2: { say: 'It is {order}.' }",
      ),
      { others: { ask: ASK } },
    );
    await (await call.hear()).press('42');
    await call.hear();
    expect(call.said).toEqual(['Which +15550100?', 'It is 427.']);
    expect(call.news.filter(({ type }) => type === 'flow.step').map(({ flow }) => flow)).toEqual([
      'shop',
      'ask',
      'ask',
      'shop',
    ]);
    expect(call.end).toBe('done in s2');
  });

  it('are begun again by who goes back to them', async () => {
    const steps = ['s1: { flow: { name: ask }, next: s2 }', 's2: { confirm: { prompt: OK?, yes: end, no: end } }'];
    const call = new FlowCall(`keys: { '*': back }\n${say(...steps)}`, { others: { ask: ASK } });
    await (await call.hear()).press('42');
    await (await call.hear()).press('*');
    expect(call.steps).toEqual(['s1', 'ask', 'done', 's2', 's1', 'ask']);
  });

  it('can end the call', async () => {
    const call = new FlowCall(say('s1: { flow: { name: bye }, next: s2 }', 's2: { say: Never. }'), {
      others: { bye: say('s1: { hangup: { prompt: Goodbye. } }') },
    });
    await call.hear();
    expect([call.said, call.end]).toEqual([['Goodbye.'], 'done in s1']);
  });

  it('fail where the flow that calls them says what follows', async () => {
    const failing = say('s1: { play: { recording: none } }');
    const call = new FlowCall(`failed: s2\n${say('s1: { flow: { name: failing } }', 's2: { say: Sorry. }')}`, {
      others: { failing },
    });
    await call.hear();
    expect([call.said, call.end]).toEqual([['Sorry.'], 'done in s2']);
  });
});

describe('parameters and variables', () => {
  const PARAMETERS = `
parameters: { shop: Our shop, count: 3, isOpen: true }
variables: { day: Monday }
${say("s1: { say: '{shop} has {count} bicycles on {day}, {isOpen}, {call.carrier}, {call.tier}.' }")}`;

  it('have the values of the file, and those that the call gives', async () => {
    const usual = await new FlowCall(PARAMETERS).hear();
    expect(usual.said).toEqual(['Our shop has 3 bicycles on Monday, yes, twilio, .']);
    const given = { Shop: "Harry's", count: '12', isOpen: 'false', day: 'Friday', tier: 'gold' };
    const other = await new FlowCall(PARAMETERS, { parameters: given }).hear();
    expect(other.said).toEqual(["Harry's has 12 bicycles on Monday, no, twilio, gold."]);
  });

  it('are what a test says', async () => {
    const set: unknown[] = [];
    const world = { variables: { shop: 'Test' }, onSet: (...news: unknown[]) => void set.push(news) };
    const call = new FlowCall(`variables: { shop: A }\n${say("s1: { set: { copy: '{shop}', text: 'a {shop}' } }")}`, {
      world,
    });
    await call.hear();
    expect(set).toEqual([
      ['shop', 'copy', 'Test'],
      ['shop', 'text', 'a Test'],
    ]);
  });
});

describe('a step that cannot be done', () => {
  const FAILS = 's1: { play: { recording: none } }';

  it('leads to where the flow says, which is told in the log', async () => {
    const call = await new FlowCall(`failed: s2\n${say(FAILS, 's2: { say: Sorry. }')}`).hear();
    expect([call.said, call.end]).toEqual([['Sorry.'], 'done in s2']);
    expect(call.logLines.join('')).toContain('there is no recording none for en-US');
  });

  it('ends the flow with its prompt where the flow does not say', async () => {
    const call = await new FlowCall(`failedPrompt: Something is wrong.\n${say(FAILS)}`).hear();
    expect([call.said, call.end]).toEqual([['Something is wrong.'], 'failed in s1']);
    expect(call.news.at(-1)).toMatchObject({
      reason: 's1: there is no recording none for en-US, and no text in its place',
    });
    expect(call.ends).toHaveLength(1);
  });

  it('does not lead in circles', async () => {
    const call = await new FlowCall(`failed: s1\nfailedPrompt: Sorry.\n${say(FAILS)}`).hear();
    expect([call.steps, call.said, call.end]).toEqual([['s1', 's1'], ['Sorry.'], 'failed in s1']);
  });

  it('may also be a fault of ours', async () => {
    const runners = { ...STEP_RUNNERS, say: () => Promise.reject(new TypeError('x is not a function')) };
    const call = await new FlowCall(say('s1: { say: Hello. }'), { runners }).hear();
    expect([call.end, call.failures]).toEqual(['failed in s1', []]);
    expect(call.news.at(-1)).toMatchObject({ reason: 's1 failed' });
    expect(call.logLines.join('')).toContain('x is not a function');
  });

  it('has a way of its own where its verb has one', async () => {
    const runners = { ...STEP_RUNNERS, http: () => Promise.reject(new StepFailure('no answer')) };
    const call = new FlowCall(say("s1: { http: { url: 'http://x', failed: s2 } }", 's2: { say: Sorry. }'), { runners });
    await call.hear();
    expect([call.said, call.end]).toEqual([['Sorry.'], 'done in s2']);
  });
});

describe('limits', () => {
  // A key could end it; nobody presses it.
  const LOOP = `keys: { 9: end }\n${say('s1: { set: { x: 1 }, next: s2 }', 's2: { say: Again., next: s1 }')}`;

  it.each([
    ['of steps', 'limits: { steps: 7 }', 'it has taken 7 steps in one call (limits.steps)', 8],
    ['of visits', 'limits: { visits: 2 }', 'it has come 2 times to the step s1 (limits.visits)', 4],
  ])('%s end a flow that does not end, with its prompt', async (_what, limits, reason, steps) => {
    const call = await new FlowCall(`${limits}\nfailed: s1\nfailedPrompt: Sorry.\n${LOOP}`).hear();
    await call.hear();
    expect(call.news.at(-1)).toMatchObject({ type: 'flow.ended', outcome: 'failed', reason });
    expect([call.said.at(-1), call.steps.length]).toEqual(['Sorry.', steps - (steps === 8 ? 1 : 0)]);
    expect(call.logLines.join('')).toContain(reason);
  });

  it('of time end it in the midst of a step', async () => {
    const call = new FlowCall(`limits: { timeMs: 3000 }\nfailedPrompt: Sorry.\n${SHOP}`);
    await call.hear();
    await call.wait(3000);
    await call.hear();
    expect(call.said.at(-1)).toBe('Sorry.');
    expect(call.news.at(-1)).toMatchObject({
      outcome: 'failed',
      reason: 'it lasts longer than 3000 ms (limits.timeMs)',
    });
    expect(call.clock.pending).toBe(0);
  });
});

describe('a call that somebody takes over', () => {
  it('is silent, and the question is asked again when it is given back', async () => {
    const call = await new FlowCall(SHOP).hear();
    call.app.mute(true);
    expect(call.app.listens).toBe(false);
    await call.press('1');
    await call.say('hours');
    await call.wait(20_000);
    expect(call.steps).toEqual(['welcome', 'menu']);
    call.app.mute(false);
    await call.hear();
    expect([call.said.at(-1), call.app.listens]).toEqual(['Hours or repairs?', true]);
    await call.press('2');
    await call.hear();
    expect(call.said).toContain('Any morning.');
    expect(call.inputs).toEqual(['keys match 2 = repairs']);
  });

  it('goes on behind what was cut off', async () => {
    const call = await new FlowCall(SHOP).listen();
    call.app.mute(true);
    await call.wait(1000);
    expect([call.said, call.voice.speaking]).toEqual([['Welcome.'], false]);
    call.app.mute(false);
    await call.hear();
    expect(call.said).toEqual(['Welcome.', 'Hours or repairs?']);
  });

  it('does not end before it is given back', async () => {
    const call = await new FlowCall(say('s1: { say: Bye. }')).settled();
    call.voice.finish();
    call.app.mute(true);
    await call.wait(1000);
    expect(call.ends).toEqual([]);
    call.app.mute(false);
    await call.settled();
    expect(call.ends).toHaveLength(1);
  });
});
