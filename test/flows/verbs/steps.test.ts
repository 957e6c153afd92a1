/** The verbs that neither ask nor reach out: say, play, branch, set, hours, language, hangup. */
import { describe, expect, it } from 'vitest';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { FlowCall } from '../run/flow-call.ts';

const one = (step: string, options?: ConstructorParameters<typeof FlowCall>[1], more = '') =>
  new FlowCall(
    `start: s\n${more}\nsteps:\n  s: ${step}\n  a: { say: A. }\n  b: { say: B. }\n  c: { say: C. }`,
    options,
  );

const SOUND = { samples: new Int16Array(8), rateHz: 8000 };
const recordings = { find: (name: string) => (name === 'jingle' ? SOUND : null) };

describe('say', () => {
  it('says a prompt as it is told to: voice, speed, language, and what may cut it off', async () => {
    const prompt = '{ say: { text: Hello., voice: amy, speed: 1.2, bargeIn: keys } }';
    const call = await one(prompt, {}, 'language: en-GB').settled();
    const options = { voice: 'amy', voiceIsWish: true, speed: 1.2, interruptible: 'dtmf', lang: 'en-GB' };
    expect(call.voice.asked[0]?.options).toEqual(options);
  });

  it('does as the flow says where the prompt says nothing', async () => {
    const call = await one('{ say: Hello. }', {}, 'voice: amy\nbargeIn: none').settled();
    expect(call.voice.asked[0]?.options).toEqual({
      voice: 'amy',
      voiceIsWish: true,
      interruptible: 'none',
      lang: 'en-US',
    });
  });

  it('says pauses and recordings in one go, and nothing where there is nothing', async () => {
    const call = await one(
      `{ say: 'One <break time="300ms"/> two', next: t }
  t: { say: { recording: jingle, text: Ding. }, next: u }
  u: { say: '{nothing}', next: a }`,
      { recordings },
      'variables: { nothing: null }',
    ).hear();
    expect(call.said.map((text) => text.replace(/\s+/g, ' '))).toEqual(['One [300 ms] two', 'Ding.', 'A.']);
  });

  it('fails where the voice refuses it', async () => {
    const call = one('{ say: Hello. }');
    call.voice.refusal = new TrunklineError('speech_queue_full', 'too much waits');
    await call.settled();
    expect([call.end, call.failures]).toEqual(['failed in s', []]);
  });
});

describe('play', () => {
  it('plays a recording, or says its text', async () => {
    const call = await one(
      `{ play: { recording: jingle }, next: t }
  t: { play: { recording: song, text: La la. }, next: a }`,
      { recordings },
    ).hear();
    expect(call.said).toEqual(['jingle', 'La la.', 'A.']);
  });

  it('plays it again until it is cut off', async () => {
    const call = one('{ play: { recording: jingle, loop: 9 }, next: a }', { recordings });
    await call.settled();
    for (let n = 0; n < 3; n++) {
      call.voice.finish();
      await call.settled();
    }
    await call.listen();
    await call.press('5');
    await call.hear();
    expect(call.said).toEqual(['jingle', 'jingle', 'jingle', 'jingle', 'A.']);
  });
});

describe('branch', () => {
  const BRANCH = `
    branch:
      when:
        - if: { variable: x, above: 5, below: 10 }
          next: a
        - if: [{ variable: x, is: yes }, { variable: call.from, startsWith: '+1' }]
          next: b
      else: c`;

  it.each([
    ['7', 'A.'],
    ['10', 'C.'],
    ["'Yes'", 'B.'],
    ["'no'", 'C.'],
    ['null', 'C.'],
  ])('goes on by the value of a variable: %s', async (value, said) => {
    const call = await one(BRANCH, {}, `variables: { x: ${value} }`).hear();
    expect(call.said).toEqual([said]);
  });

  it('goes on with its next where no case is true', async () => {
    const call = await one(
      '{ branch: { when: [{ if: { variable: x, isSet: true }, next: a }] }, next: b }',
      {},
      'variables: { x: null }',
    ).hear();
    expect(call.said).toEqual(['B.']);
  });
});

describe('set', () => {
  it('sets values, in order, with what variables hold', async () => {
    const call = await one(`{ set: { n: 5, copy: '{n}', both: '{n} and {copy}', brace: '{{n}}', gone: null }, next: t }
  t: { branch: { when: [{ if: { variable: copy, is: 5 }, next: u }] } }
  u: { say: '{both}, {brace}, {gone}.' }`).hear();
    expect(call.said).toEqual(['5 and 5, {n}, .']);
  });
});

describe('hours', () => {
  const HOURS = `
    hours:
      timeZone: Europe/Berlin
      week: { monday: [09:00-18:00] }
      holidays: ['2026-11-30']
      open: a
      closed: b`;

  it.each([
    ['2026-11-23T09:00:00Z', 'A.'],
    ['2026-11-23T17:00:00Z', 'B.'],
    ['2026-11-30T09:00:00Z', 'B.'],
  ])('goes on by the time: %s', async (at, said) => {
    const call = await one(HOURS, { world: { wall: () => new Date(at) } }).hear();
    expect(call.said).toEqual([said]);
  });

  it('goes on elsewhere on holidays where it is told to', async () => {
    const world = { wall: () => new Date('2026-11-30T09:00:00Z') };
    const call = await one(`${HOURS}\n      holiday: c`, { world }).hear();
    expect(call.said).toEqual(['C.']);
  });
});

describe('language', () => {
  it('changes what both sides speak from then on, in other flows too', async () => {
    const call = await one(
      "{ language: { to: en-GB, voice: 'kokoro:bf_emma' }, next: t }\n  t: { flow: { name: sub } }",
      { others: { sub: 'start: s\nlanguage: en-US\nsteps:\n  s: { say: Hello. }' } },
    ).hear();
    expect(call.voice.asked[0]?.options).toMatchObject({ lang: 'en-GB', voice: 'kokoro:bf_emma' });
    expect(call.languages.caller).toBe('en');
  });

  it('goes on in a language that the recogniser does not understand', async () => {
    const call = await one('{ language: { to: de-DE }, next: a }').hear();
    expect(call.voice.asked[0]?.options).toMatchObject({ lang: 'de-DE' });
    expect(call.logLines.join('')).toContain('not understood');
    expect(call.end).toBe('done in a');
  });

  it('is that of the flow at its beginning', async () => {
    const call = await one('{ say: Hello. }', {}, 'language: en-GB').hear();
    expect(call.languages.caller).toBe('en-GB');
  });
});

describe('hangup', () => {
  it.each([
    ["{ hangup: { prompt: Bye., handoffData: 'for {call.from}' } }", ['Bye.'], 'for +15550100'],
    ['{ hangup: {} }', [], null],
    [
      "{ hangup: { handoffData: { n: 5, from: '{call.from}', none: '{none}' } } }",
      [],
      '{"n":5,"from":"+15550100","none":null}',
    ],
  ])('ends the call: %s', async (step, said, handoffData) => {
    const call = await one(step, {}, 'variables: { none: null }').hear();
    expect([call.said, call.end, call.ends]).toEqual([said, 'done in s', [{ handoffData, reason: 'app' }]]);
  });

  it('waits until goodbye was heard', async () => {
    const call = await one('{ hangup: { prompt: Bye. } }').listen();
    expect(call.ends).toEqual([]);
    await call.hear();
    expect(call.ends).toHaveLength(1);
  });
});
