/** What callers press and say: what cuts prompts off, what counts for which question, and how long it is waited for. */
import { describe, expect, it } from 'vitest';
import { FlowCall } from './flow-call.ts';

const flow = (bargeIn: string, more = '') => `
start: welcome
${more}
steps:
  welcome: { say: { text: Welcome., bargeIn: ${bargeIn} }, next: menu }
  menu:
    menu:
      prompt: { text: Hours or repairs?, bargeIn: ${bargeIn} }
      choices:
        hours: { key: '1', say: [hours] }
        repairs: { key: '2', say: [repairs] }
      into: wish
      noInput: { prompts: [Are you there?], next: bye }
      noMatch: { prompts: [What was that?], next: bye }
    next: bye
  bye: { say: 'You want {wish}.' }
`;

describe('keys', () => {
  it.each(['any', 'keys'])('answer a question while it is said, which is cut off: bargeIn %s', async (bargeIn) => {
    const call = await new FlowCall(flow(bargeIn)).listen();
    call.voice.finish();
    await call.listen();
    await call.press('2');
    await call.hear();
    expect([call.said.at(-1), call.inputs]).toEqual(['You want repairs.', ['keys match 2 = repairs']]);
  });

  it.each(['speech', 'none'])('do not count while a question is said that they cannot cut off: %s', async (bargeIn) => {
    const call = await new FlowCall(flow(bargeIn)).listen();
    call.voice.finish();
    await call.listen();
    await call.press('2');
    expect(call.inputs).toEqual([]);
    await call.hear();
    await call.press('1');
    expect(call.inputs).toEqual(['keys match 1 = hours']);
  });

  it('cut off a question that does not sound yet', async () => {
    const call = await new FlowCall(flow('any')).listen();
    call.voice.finish();
    await call.settled();
    await call.press('1', false);
    expect(call.said).toEqual(['Welcome.', 'Hours or repairs?', 'You want hours.']);
    expect(call.voice.speaking).toBe(true);
  });

  it('leave a question sounding in a call in which nothing may cut off anything', async () => {
    const call = await new FlowCall(flow('any'), { environment: { BARGE_IN: 'off' } }).hear();
    await call.say('bananas');
    await call.listen();
    await call.press('1', false);
    expect(call.said.slice(-2)).toEqual(['What was that?', 'You want hours.']);
    call.voice.finish();
    await call.hear();
    expect(call.end).toBe('done in bye');
  });

  it('that are pressed ahead answer the questions that follow', async () => {
    const call = await new FlowCall(`
start: welcome
steps:
  welcome: { say: Welcome., next: menu }
  menu: { menu: { prompt: Which?, choices: { one: { key: '1', next: number } } } }
  number: { gather: { kind: digits, into: n, max: 3, prompt: Number? }, next: sure }
  sure: { confirm: { prompt: 'Is {n} right?', yes: end, no: number } }
`).listen();
    call.voice.interrupt();
    for (const key of '14711') call.app.onDtmf(key);
    await call.settled();
    expect(call.inputs).toEqual(['keys match 1 = one', 'keys match 471 = 471', 'keys match 1 = true']);
    expect(call.said).toEqual(['Welcome.']);
    expect(call.end).toBe('done in sure');
  });

  it('do not count ahead after an answer that fits nothing', async () => {
    const call = new FlowCall(flow('any'));
    await call.settled();
    // All of them come while the caller hears the first prompt.
    call.voice.interrupt();
    for (const key of '912') call.app.onDtmf(key);
    await call.settled();
    expect(call.inputs).toEqual(['keys noMatch 9 = null']);
    expect(call.said).toEqual(['Welcome.', 'What was that?']);
  });

  it('are kept ahead up to a hundred', async () => {
    const call = new FlowCall(`
start: wait
steps:
  wait: { say: Wait., next: number }
  number: { gather: { kind: digits, into: n, prompt: Number?, terminator: none } }
`);
    await call.settled();
    for (let n = 0; n < 300; n++) call.app.onDtmf('7');
    await call.settled();
    expect(call.inputs).toEqual([`keys match ${'7'.repeat(64)} = ${'7'.repeat(64)}`]);
  });
});

describe('words', () => {
  it('answer a question, and say how sure the recogniser is', async () => {
    const call = await new FlowCall(flow('any')).hear();
    await call.say('I want repairs', { confidence: 0.8 });
    expect(call.inputs).toEqual(['speech match I want repairs = repairs']);
  });

  it.each([
    ['menu', 'menu: { prompt: Which?, choices: { yes: { next: end } }, noMatch: { next: end }, retries: 0 }'],
    ['confirm', 'confirm: { prompt: Sure?, yes: end, no: end, noMatch: { next: end }, retries: 0 }'],
    ['gather', 'gather: { kind: yesNo, into: it, prompt: Sure?, noMatch: { next: end }, retries: 0 }'],
  ])('of which the recogniser is not sure do not answer a question: %s', async (_verb, step) => {
    for (const [confidence, outcome] of [
      [0.54, 'noMatch yes = null'],
      [0.55, /^speech match yes = (?:true|yes)$/],
    ] as const) {
      const call = await new FlowCall(`start: ask\nsteps:\n  ask: { ${step} }`).hear();
      await call.say('yes', { confidence });
      expect(call.inputs).toEqual([typeof outcome === 'string' ? `speech ${outcome}` : expect.stringMatching(outcome)]);
    }
  });

  it('of a text are taken as they come', async () => {
    const step = 'gather: { kind: text, into: it, prompt: What?, noMatch: { next: end }, retries: 0 }';
    const call = await new FlowCall(`start: ask\nsteps:\n  ask: { ${step} }`).hear();
    await call.say('a long story', { confidence: 0.1 });
    expect(call.inputs).toEqual(['speech match a long story = a long story']);
  });

  it('that answer a question are told to the recogniser while it is asked', async () => {
    const call = await new FlowCall(`${flow('any')}`).listen();
    expect(call.languages.answer).toBeNull();
    call.voice.finish();
    await call.listen();
    expect(call.languages.answer?.words).toEqual(expect.arrayContaining(['hours', 'repairs']));
    await call.say('repairs');
    expect(call.languages.answer).toBeNull();
  });

  it.each(['any', 'speech'])('answer a question while it is said: bargeIn %s', async (bargeIn) => {
    const call = await new FlowCall(flow(bargeIn)).listen();
    call.voice.finish();
    await call.listen();
    await call.say('repairs');
    expect(call.inputs).toEqual(['speech match repairs = repairs']);
  });

  it.each(['keys', 'none'])('said into a question do not count where they cannot cut it off: %s', async (bargeIn) => {
    const call = await new FlowCall(flow(bargeIn)).listen();
    call.voice.finish();
    await call.listen();
    await call.say('repairs');
    await call.hear();
    expect(call.inputs).toEqual([]);
    await call.say('hours');
    expect(call.inputs).toEqual(['speech match hours = hours']);
  });

  it('that begin in such a question and go on behind its end do', async () => {
    const call = await new FlowCall(flow('none')).listen();
    call.voice.finish();
    await call.listen();
    call.begins();
    await call.hear();
    await call.wait(20_000);
    call.ends_('repairs');
    await call.settled();
    expect(call.inputs).toEqual(['speech match repairs = repairs']);
  });

  it('of agreement right before the end of a question answer it, and earlier ones do not', async () => {
    const okay = 'start: a\nsteps:\n  a: { menu: { prompt: Shall we?, choices: { go: { say: [okay], next: end } } } }';
    const early = await new FlowCall(okay).listen();
    await early.say('okay', { cuts: false });
    await early.wait(2000);
    await early.hear();
    expect(early.inputs).toEqual([]);
    const late = await new FlowCall(okay).listen();
    await late.say('okay', { cuts: false });
    await late.wait(500);
    await late.hear();
    expect(late.inputs).toEqual(['speech match okay = go']);
  });
});

describe.each([
  ['confirm', "confirm: { prompt: { text: 'Is that right?', bargeIn: BARGE }, yes: end, no: end }"],
  ['gather', "gather: { kind: yesNo, into: isRight, prompt: { text: 'Is that right?', bargeIn: BARGE } }"],
])('yes and no said into a question of %s that they do not cut off', (_verb, step) => {
  const ask = (bargeIn = 'any') =>
    new FlowCall(`start: say\nsteps:\n  say: { say: Hello., next: ask }\n  ask: { ${step.replace('BARGE', bargeIn)} }`);
  const begun = async (bargeIn?: string) => {
    const call = await ask(bargeIn).listen();
    call.voice.finish();
    return await call.listen();
  };

  it.each([
    ['yes', 'any', true],
    ['mm hm', 'any', true],
    ['yes', 'keys', true],
    ['no', 'keys', false],
    ['no thank you', 'none', false],
  ])('count at its end, whenever they were said: %s, bargeIn %s', async (text, bargeIn, value) => {
    const call = await begun(bargeIn);
    await call.say(text, { cuts: false, confidence: 0.9 });
    await call.wait(20_000);
    expect(call.inputs).toEqual([]);
    await call.hear();
    expect(call.inputs).toEqual([`speech match ${text} = ${value}`]);
  });

  it('are replaced by later ones', async () => {
    const call = await begun('keys');
    for (const text of ['yes', 'no', 'lovely weather']) await call.say(text, { cuts: false });
    await call.hear();
    expect(call.inputs).toEqual(['speech match no = false']);
  });

  it('are replaced by what is being said at its end', async () => {
    const call = await begun();
    await call.say('yes', { cuts: false });
    call.begins();
    await call.hear();
    expect(call.inputs).toEqual([]);
    call.ends_('no, wrong');
    await call.settled();
    expect(call.inputs).toEqual(['speech match no, wrong = false']);
  });

  it.each([
    ['at its end', false],
    ['that cuts it off', true],
  ])('count behind a noise %s', async (_what, cuts) => {
    const call = await begun();
    await call.say('yes', { cuts: false });
    call.begins();
    if (cuts) call.voice.interrupt();
    else await call.hear();
    call.ends_('');
    await call.settled();
    expect(call.inputs).toEqual(['speech match yes = true']);
  });

  it('are replaced by what cuts it off', async () => {
    const call = await begun();
    await call.say('yes', { cuts: false });
    await call.say('no');
    expect(call.inputs).toEqual(['speech match no = false']);
  });

  it('are replaced by a key', async () => {
    const call = await begun();
    await call.say('yes', { cuts: false });
    await call.press('2');
    expect(call.inputs).toEqual(['keys match 2 = false']);
  });

  it('do not count if they were said into what comes before the question', async () => {
    const call = await ask().listen();
    call.begins();
    call.voice.finish();
    await call.listen();
    call.ends_('yes');
    await call.wait(2000);
    await call.hear();
    expect(call.inputs).toEqual([]);
    const other = await ask().listen();
    await other.say('yes', { cuts: false });
    await other.wait(2000);
    await other.hear();
    expect(other.inputs).toEqual([]);
  });
});

describe('words', () => {
  it('that cut off what was said before a question answer it without its being said', async () => {
    const call = await new FlowCall(flow('any')).listen();
    await call.say('repairs, please');
    await call.hear();
    expect(call.inputs).toEqual(['speech match repairs, please = repairs']);
    expect(call.said).toEqual(['Welcome.', 'You want repairs.']);
  });

  it('that cut off what was said before a question and fit nothing are passed over', async () => {
    const call = await new FlowCall(flow('any')).listen();
    await call.say('wait a moment');
    await call.hear();
    expect(call.inputs).toEqual([]);
    expect(call.said).toEqual(['Welcome.', 'Hours or repairs?']);
  });

  it('are waited for before a question when they cut in, and no longer than they last', async () => {
    const call = await new FlowCall(flow('any')).listen();
    call.begins();
    call.voice.interrupt();
    await call.wait(3000);
    expect(call.said).toEqual(['Welcome.']);
    call.ends_('');
    await call.settled();
    expect(call.said).toEqual(['Welcome.', 'Hours or repairs?']);
  });

  it('that come in pieces are one answer', async () => {
    const call = await new FlowCall(flow('any')).hear();
    call.begins();
    const caption = { type: 'caption', tail: '', startMs: 0, endMs: 1, lagMs: 0 } as const;
    call.app.onSpeech({ ...caption, utterance: 1, stable: 'I want', text: 'I want', final: true });
    await call.wait(1000);
    call.app.onSpeech({ ...caption, utterance: 2, stable: 'hours', text: 'hours', final: true });
    call.app.onSpeech({ type: 'turn.ended', first: 1, last: 2, atMs: 1 });
    await call.settled();
    expect(call.inputs).toEqual(['speech match I want hours = hours']);
  });
});

describe('noise', () => {
  it('that cuts off a question has it said again, three times at the most, and is no answer', async () => {
    const call = await new FlowCall(flow('any')).hear();
    call.voice.asked.length = 0;
    await call.wait(5000);
    for (let n = 0; n < 5; n++) {
      await call.listen();
      await call.say('', { cuts: true });
    }
    expect(call.said).toEqual(['Are you there?', 'Are you there?', 'Are you there?']);
    expect(call.inputs).toEqual(['none noInput null = null']);
    await call.hear();
    await call.wait(5000);
    expect(call.inputs).toHaveLength(2);
  });

  it('begins the silence anew', async () => {
    const call = await new FlowCall(flow('any')).hear();
    await call.wait(4000);
    await call.say('');
    await call.wait(4000);
    expect(call.inputs).toEqual([]);
    await call.wait(1000);
    expect(call.inputs).toEqual(['none noInput null = null']);
  });
});

describe('silence', () => {
  it('counts from the end of what is said', async () => {
    const call = await new FlowCall(flow('any')).listen();
    call.voice.finish();
    await call.listen();
    await call.wait(30_000);
    expect(call.inputs).toEqual([]);
    await call.hear();
    await call.wait(4900);
    expect(call.inputs).toEqual([]);
    await call.wait(100);
    expect(call.inputs).toEqual(['none noInput null = null']);
  });

  it('is none while the caller speaks, however long', async () => {
    const call = await new FlowCall(flow('any')).hear();
    await call.wait(4000);
    call.begins();
    await call.wait(40_000);
    expect(call.inputs).toEqual([]);
    call.ends_('repairs');
    await call.settled();
    expect(call.inputs).toEqual(['speech match repairs = repairs']);
  });

  it('is one when the words of the caller never come', async () => {
    const call = await new FlowCall(flow('any')).hear();
    call.begins();
    call.app.onSpeech({ type: 'speech.stopped', atMs: 0 });
    await call.wait(9900);
    expect(call.inputs).toEqual([]);
    await call.wait(100);
    expect(call.inputs).toEqual(['none noInput null = null']);
  });
});
