/** The verbs that ask: menu, gather and confirm. */
import { describe, expect, it } from 'vitest';
import { FlowCall } from '../run/flow-call.ts';

const one = (step: string, more = '') =>
  new FlowCall(`start: ask\n${more}\nsteps:\n  ask: ${step}\n  last: { say: Last. }\n  other: { say: Other. }`).hear();

const last = (call: FlowCall) => call.said.at(-1);

describe('menu', () => {
  const MENU = `
    menu:
      prompt: Which?
      choices:
        first: { key: '1', say: [the first], value: 7, next: last }
        second: { key: '2', say: [the second] }
      into: chosen
      retries: 1
      noInput: { prompts: [Say something.] }
      noMatch: { prompts: [What?], next: other }
    next: last`;

  it.each([
    ['a key', '1', 'keys match 1 = 7', 'Last.'],
    ['the key of a choice that leads nowhere by itself', '2', 'keys match 2 = second', 'Last.'],
  ])('goes on by %s', async (_what, keys, input, said) => {
    const call = await one(MENU);
    await call.press(keys);
    await call.hear();
    expect([call.inputs, last(call)]).toEqual([[input], said]);
  });

  it('goes on by words', async () => {
    const call = await one(MENU);
    await call.say('I want the second');
    await call.hear();
    expect([call.inputs, last(call)]).toEqual([['speech match I want the second = second'], 'Last.']);
  });

  it('says what it is told to after wrong keys and words, and after the last try goes on as told', async () => {
    const call = await one(MENU);
    await call.press('7');
    await call.hear();
    await call.say('bananas');
    await call.hear();
    expect(call.inputs).toEqual(['keys noMatch 7 = null', 'speech noMatch bananas = null']);
    expect(call.said).toEqual(['Which?', 'What?', 'Other.']);
  });

  it('goes on after silence as after wrong answers where nothing is said of silence', async () => {
    const call = await one(MENU);
    await call.wait(5000);
    await call.hear();
    await call.wait(5000);
    await call.hear();
    expect(call.said).toEqual(['Which?', 'Say something.', 'Other.']);
    expect(call.inputs).toEqual(['none noInput null = null', 'none noInput null = null']);
  });

  it('goes on with its next where nothing is said of the last try', async () => {
    const call = await one(`{ menu: { prompt: Which?, retries: 0, choices: { a: { key: '1' } } }, next: last }`);
    await call.press('2');
    await call.hear();
    expect(call.said).toEqual(['Which?', 'Last.']);
  });
});

describe('confirm', () => {
  const CONFIRM = '{ confirm: { prompt: Right?, yes: last, no: other } }';

  it.each([
    ['1', 'Last.'],
    ['2', 'Other.'],
  ])('takes the key %s', async (key, said) => {
    const call = await one(CONFIRM);
    await call.press(key);
    await call.hear();
    expect(last(call)).toBe(said);
  });

  it.each([
    ['yes', 'Last.'],
    ['No.', 'Other.'],
  ])('takes the word "%s"', async (word, said) => {
    const call = await one(CONFIRM);
    await call.say(word);
    await call.hear();
    expect(last(call)).toBe(said);
  });

  it('repeats its question where it has no other prompts, and fails after three tries', async () => {
    const call = await one(CONFIRM);
    for (let n = 0; n < 3; n++) {
      await call.press('5');
      await call.hear();
    }
    expect([call.said, call.end]).toEqual([['Right?', 'Right?', 'Right?'], 'failed in ask']);
    expect(call.news.at(-1)).toMatchObject({ reason: expect.stringContaining('no answer in 3 tries') });
  });

  it('repeats the last of its prompts', async () => {
    const prompts = 'noInput: { prompts: [A, B], next: last }';
    const call = await one(`{ confirm: { prompt: Right?, yes: last, no: last, retries: 3, ${prompts} } }`);
    for (let n = 0; n < 4; n++) {
      await call.wait(5000);
      await call.hear();
    }
    expect(call.said).toEqual(['Right?', 'A', 'B', 'B', 'Last.']);
  });
});

describe('gather', () => {
  const gather = (fields: string) =>
    one(`{ gather: { into: x, prompt: Which?, ${fields} }, next: told }
  told: { say: 'It is {x}.' }`);

  it.each([
    ['as many as there may be', 'kind: digits, max: 4', '1234', '1234'],
    ['up to the terminator', 'kind: digits', '12#', '12'],
    ['up to another terminator', "kind: digits, terminator: '*'", '12*', '12'],
    ['numbers', 'kind: number', '42#', '42'],
    ['phone numbers', 'kind: phone', '4155550100#', '4155550100'],
  ])('takes keys: %s', async (_what, fields, keys, value) => {
    const call = await gather(fields);
    await call.press(keys);
    await call.hear();
    expect(last(call)).toBe(`It is ${value}.`);
  });

  it('takes the keys that there are after a pause', async () => {
    const call = await gather('kind: digits, interDigitMs: 2000');
    await call.press('12');
    await call.wait(1900);
    expect(call.inputs).toEqual([]);
    await call.press('3');
    await call.wait(2000);
    expect(call.inputs).toEqual(['keys match 123 = 123']);
  });

  it.each([
    ['too few digits', 'kind: digits, min: 3, noMatch: { prompts: [Again.] }', '12#'],
    ['no digits', 'kind: digits, noMatch: { prompts: [Again.] }', '#'],
  ])('takes no answer of %s', async (_what, fields, keys) => {
    const call = await gather(fields);
    await call.press(keys);
    await call.hear();
    expect([call.inputs, last(call)]).toEqual([[`keys noMatch ${keys.slice(0, -1)} = null`], 'Again.']);
  });

  it('takes digits that are said, and asks the recogniser to wait for all of them', async () => {
    const call = await gather('kind: digits, min: 4, max: 6');
    expect(call.voice.asked[0]?.options.expectsDigits).toEqual({ min: 4, max: 6 });
    await call.say('1 2 3 4');
    await call.hear();
    expect(last(call)).toBe('It is 1234.');
  });

  it('takes yes and no by key, and words for everything else', async () => {
    const yes = await gather('kind: yesNo');
    await yes.press('2');
    expect(yes.inputs).toEqual(['keys match 2 = false']);
    const text = await gather('kind: text');
    await text.press('5');
    expect(text.inputs).toEqual([]);
    await text.say('Anna Miller');
    expect(text.inputs).toEqual(['speech match Anna Miller = Anna Miller']);
  });

  it('takes one of a list', async () => {
    const call = await gather('kind: choice, choices: { red: [red, rose], blue: [blue] }');
    await call.say('rose');
    await call.hear();
    expect(last(call)).toBe('It is red.');
  });

  it('keeps a private answer out of what is told, and tells the call while it is given', async () => {
    const call = await gather('kind: digits, max: 3, private: true');
    expect(call.privacy).toEqual([true]);
    await call.press('12');
    expect(call.privacy).toEqual([true]);
    await call.press('3');
    expect([call.privacy, call.inputs]).toEqual([[true, false], ['keys match null = null']]);
    expect(JSON.stringify(call.news)).not.toContain('123');
    await call.hear();
    expect(last(call)).toBe('It is 123.');
  });

  it('does not stay private when the caller leaves, or a key leads away', async () => {
    const gone = await gather('kind: digits, private: true');
    gone.app.close();
    expect(gone.privacy).toEqual([true, false]);
    const away = await one(
      '{ gather: { kind: digits, into: x, prompt: Which?, private: true } }',
      "keys: { '*': last }",
    );
    await away.press('*');
    expect(away.privacy).toEqual([true, false]);
  });

  it('waits as long as it is told to', async () => {
    const call = await gather('kind: digits, timeoutMs: 9000');
    await call.wait(8900);
    expect(call.inputs).toEqual([]);
    await call.wait(100);
    expect(call.inputs).toEqual(['none noInput null = null']);
  });

  it('goes back to the question before', async () => {
    const call = await new FlowCall(`
start: a
steps:
  a: { gather: { kind: digits, max: 1, into: a, prompt: A? }, next: say }
  say: { say: Thanks., next: b }
  b: { gather: { kind: digits, max: 1, into: b, prompt: B?, retries: 0, noInput: { next: back } }, next: c }
  c: { say: '{a}{b}' }
`).hear();
    await call.press('1');
    await call.hear();
    await call.wait(5000);
    await call.hear();
    await call.press('2');
    await call.hear();
    await call.press('3');
    await call.hear();
    expect([call.steps, last(call)]).toEqual([['a', 'say', 'b', 'a', 'say', 'b', 'c'], '23']);
  });
});

describe('where callers are', () => {
  const world = { wall: () => new Date('2026-11-23T23:30:00Z') };
  const DAY = '{ gather: { kind: date, into: day, prompt: When?, min: 0, max: 7, retries: 1 }, next: last }';
  const asks = (top: string, others: Record<string, string> = {}) =>
    new FlowCall(`start: ask\n${top}\nsteps:\n  ask: ${DAY}\n  last: { say: '{day:date}.' }`, { world, others });

  it.each([
    ['in UTC unless told', '', '2026-11-24', 'Tuesday, November twenty fourth.'],
    ['in the time zone of the flow', 'timeZone: Europe/Berlin', '2026-11-25', 'Wednesday, November twenty fifth.'],
  ])('has tomorrow %s', async (_what, top, day, said) => {
    const call = await asks(top).hear();
    await call.say('tomorrow');
    await call.hear();
    expect([call.inputs, last(call)]).toEqual([[`speech match tomorrow = ${day}`], said]);
  });

  it('counts the days of a date from the day at that place', async () => {
    const call = await asks('timeZone: Europe/Berlin').hear();
    // Yesterday in Berlin, and today in UTC.
    await call.say('November 23rd 2026');
    await call.hear();
    await call.say('November 24th');
    await call.hear();
    expect(call.inputs).toEqual([
      'speech noMatch November 23rd 2026 = null',
      'speech match November 24th = 2026-11-24',
    ]);
  });

  it.each([
    ['', '2026-11-25'],
    ['timeZone: America/New_York', '2026-11-24'],
  ])('is the same in a flow that is called, unless it says otherwise: %s', async (own, day) => {
    const called = `start: ask\n${own}\nsteps:\n  ask: ${DAY}\n  last: { say: '{day}' }`;
    const main = 'start: a\ntimeZone: Europe/Berlin\nsteps:\n  a: { flow: { name: called } }';
    const call = await new FlowCall(main, { world, others: { called } }).hear();
    await call.say('tomorrow');
    await call.hear();
    expect(last(call)).toBe(day);
  });

  it.each([
    ['the flow', 'EUR', '', 'EUR 12.50', 'twelve euros and fifty cents, three euros'],
    ['the question', 'EUR', ', currency: GBP', 'GBP 12.50', 'twelve pounds and fifty pence, three euros'],
  ])('is paid in the currency of %s', async (_what, currency, own, value, said) => {
    const gather = `{ gather: { kind: amount, into: sum, prompt: How much?${own} }, next: last }`;
    const steps = `  ask: ${gather}\n  last: { say: '{sum:amount}, {fee:amount}' }`;
    const call = await new FlowCall(
      `start: ask\ncurrency: ${currency}\nvariables: { fee: 3 }\nsteps:\n${steps}`,
    ).hear();
    await call.say('twelve fifty');
    await call.hear();
    expect([call.inputs, last(call)]).toEqual([[`speech match twelve fifty = ${value}`], said]);
  });
});
