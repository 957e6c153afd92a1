import { describe, expect, it } from 'vitest';
import { readFlow } from '../../../src/flows/file/read-flow.ts';

/** `steps` are the lines of the steps, the first of which is line 4. */
const flow = (...steps: string[]): string => ['version: 1', 'start: main', 'steps:', ...steps].join('\n');
const told = (problems: ReturnType<typeof readFlow>['errors']): string[] =>
  problems.map(({ line, column, message }) => `${line}:${column}: ${message}`);
const errorsOf = (text: string): string[] => told(readFlow(text, 'shop').errors);
const warningsOf = (text: string): string[] => told(readFlow(text, 'shop').warnings);
const SAYS = '  main: { say: Hello. }';

describe('a flow file', () => {
  it('becomes a flow with the values of what it leaves out', () => {
    const { flow: read, errors, warnings } = readFlow(flow('  main:', '    say: Hello.', '    next: end'), 'shop');
    expect([errors, warnings]).toEqual([[], []]);
    expect(read).toMatchObject({
      name: 'shop',
      about: '',
      start: 'main',
      language: null,
      bargeIn: 'any',
      failed: null,
      limits: { steps: 500, visits: 50, timeMs: 1_800_000 },
    });
    expect(read?.steps.get('main')).toEqual({ name: 'main', verb: 'say', fields: { text: 'Hello.' }, next: 'end' });
    expect(read?.sha256).toMatch(/^[\da-f]{64}$/);
  });

  it('takes keys with and without quotes', () => {
    const text = flow(
      '  main: { menu: { prompt: A, choices: { a: { key: 1, next: end }, b: { key: "2", next: end } } } }',
      'keys: { 0: main, "*": back }',
    );
    const { flow: read, errors } = readFlow(text, 'shop');
    expect(errors).toEqual([]);
    expect([...(read?.keys ?? [])]).toEqual([
      ['0', 'main'],
      ['*', 'back'],
    ]);
    const fields = read?.steps.get('main')?.fields;
    expect(fields).toMatchObject({ choices: { a: { key: '1' }, b: { key: '2' } } });
  });

  it('takes what needs one thing as that alone', () => {
    const text = flow(
      '  main: { play: jingle, next: german }',
      '  german: { language: de-DE, next: menu }',
      '  menu: { menu: { prompt: A, into: a, choices: { b: [one, two], c: three } }, next: pay }',
      '  pay: { flow: payment, next: open }',
      '  open: { hours: { timeZone: UTC, week: { monday-friday: 8:00 - 17:00 }, open: person, closed: bye } }',
      "  person: { transfer: '+4930123456', next: bye }",
      '  bye: { hangup: Bye. }',
    );
    const { flow: read, errors } = readFlow(text, 'shop');
    expect(errors).toEqual([]);
    expect([...(read?.steps.values() ?? [])].map(({ fields }) => fields)).toEqual([
      { recording: 'jingle' },
      { to: 'de-DE' },
      { prompt: { text: 'A' }, into: 'a', choices: { b: { say: ['one', 'two'] }, c: { say: ['three'] } } },
      { name: 'payment' },
      { timeZone: 'UTC', week: { 'monday-friday': ['08:00-17:00'] }, open: 'person', closed: 'bye' },
      { to: '+4930123456' },
      { prompt: { text: 'Bye.' } },
    ]);
    expect(errorsOf(flow('  main: { hangup: "Bye {name" }'))).toEqual([
      expect.stringMatching(/^4:19: steps\.main\.hangup: /),
    ]);
    expect(errorsOf(flow('  main: { language: germanish }'))).toEqual([
      expect.stringMatching(/^4:21: steps\.main\.language: got "germanish"/),
    ]);
  });

  it('tells all that is wrong, in the order of the text', () => {
    const text = flow('  main: { sya: Hello., next: end }', '  b: { say: 5 }', '  c: { say: Bye., next: nowhere }');
    expect(errorsOf(text)).toEqual([
      expect.stringMatching(/^4:11: steps\.main\.sya: is unknown, did you mean say\? expected say, play, /),
      '5:13: steps.b.say: got the number 5, expected a text or lines such as "text: …"',
      '6:25: steps.c.next: there is no step nowhere, expected the name of a step or end, back, repeat',
    ]);
  });

  it.each([
    [
      'too many steps',
      flow(SAYS, ...Array.from({ length: 500 }, (_, at) => `  s${at}: { say: A }`)),
      '4:3: steps: expected at most 500 steps',
    ],
    ['nothing', '', '1:1: the file: got nothing, expected lines such as "version: …"'],
    ['another version', `version: 2\nstart: main\nsteps:\n${SAYS}`, '1:10: version: got the number 2, expected 1'],
    ['a start that is missing', `version: 1\nsteps:\n${SAYS}`, '1:1: start: is missing, expected a text'],
    [
      'a start that is no step',
      `version: 1\nstart: man\nsteps:\n${SAYS}`,
      '2:8: start: there is no step man, did you mean main?',
    ],
    [
      'a failed that is no step',
      flow(SAYS, 'failed: back'),
      '5:9: failed: there is no step back, expected the name of a step or end',
    ],
    [
      'a key that leads nowhere',
      flow(SAYS, 'keys: { 0: operator }'),
      '5:12: keys.0: there is no step operator, expected the name of a step or end, back, repeat',
    ],
    ['a key that is none', flow(SAYS, 'keys: { a: main }'), '5:9: keys.a: expected one key: 0 to 9, * or #'],
    [
      'a step without a verb',
      flow('  main: { next: end }'),
      '4:9: steps.main: does nothing, expected one of say, play, menu, ',
    ],
    [
      'a step with two verbs',
      flow('  main: { say: Hello., play: { recording: a, text: b } }'),
      '4:24: steps.main.play: the step has say already, expected one thing in each step',
    ],
    [
      'a step with a name of its own meaning',
      flow(SAYS, '  end: { say: Bye. }'),
      '5:3: steps.end: has a name with a meaning of its own, expected another than end, back, repeat',
    ],
    [
      'a target that is mistyped',
      flow('  main: { say: Hello., next: mian }'),
      '4:30: steps.main.next: there is no step mian, did you mean main?',
    ],
    [
      'a target inside of a step',
      flow('  main: { confirm: { prompt: A, yes: end, no: noo } }'),
      '4:47: steps.main.confirm.no: there is no step noo, expected',
    ],
    [
      'steps that go round without a pause',
      flow('  main: { set: { a: 1 }, next: b }', '  b: { set: { a: 2 }, next: main }'),
      '4:3: steps.main: leads back to itself without a pause: put a prompt or a question between',
    ],
    [
      'a request that repeats itself without a pause',
      flow('  main: { http: { url: "https://a.example", failed: repeat } }'),
      '4:3: steps.main: leads back to itself without a pause',
    ],
    [
      'prompts that go round for ever',
      flow('  main: { say: Hello., next: b }', '  b: { say: Again., next: main }'),
      '4:3: steps.main: goes round for ever: no step after it asks the caller something or ends',
    ],
    [
      'a menu without choices',
      flow('  main: { menu: { prompt: A, choices: {} } }'),
      '4:39: steps.main.menu.choices: is',
    ],
    [
      'a choice that leads nowhere',
      flow('  main: { menu: { prompt: A, choices: { a: { key: 1 } } } }'),
      '4:41: steps.main.menu.choices.a: leads nowhere, expected next: here, or for all choices at the step',
    ],
    [
      'two choices of one key',
      flow('  main: { menu: { prompt: A, choices: { a: { key: 1 }, b: { key: "1" } } }, next: end }'),
      '4:66: steps.main.menu.choices.b.key: got 1, which chooses a already',
    ],
    [
      'two choices of one phrase',
      flow('  main: { menu: { prompt: A, choices: { a: { say: [Bike!] }, b: { say: [x, bike] } } }, next: end }'),
      '4:76: steps.main.menu.choices.b.say.1: got "bike", which chooses a already',
    ],
    [
      'a phrase that is the name of another choice',
      flow('  main: { menu: { prompt: A, choices: { a: { say: [B] }, b: { key: 1 } } }, next: end }'),
      '4:52: steps.main.menu.choices.a.say.0: got "B", which chooses b already',
    ],
    [
      'a gather of one of a list without a list',
      flow('  main: { gather: { prompt: A, kind: choice, into: a } }'),
      '4:19: steps.main.gather.choices: is missing, expected at least one for the kind choice',
    ],
    [
      'a currency of digits',
      flow('  main: { gather: { prompt: A, kind: digits, into: a, currency: EUR } }'),
      '4:65: steps.main.gather.currency: has no meaning for the kind digits',
    ],
    [
      'more digits at least than at most',
      flow('  main: { gather: { prompt: A, kind: digits, into: a, min: 6, max: 4 } }'),
      '4:68: steps.main.gather.max: got 4, expected at least min (6)',
    ],
    [
      'half a digit',
      flow('  main: { gather: { prompt: A, kind: digits, into: a, max: 1.5 } }'),
      '4:60: steps.main.gather.max: got 1.5, expected 1 to 100 digits',
    ],
    [
      'a variable that is never set',
      flow('  main: { gather: { prompt: A, kind: digits, into: order }, next: b }', '  b: { say: "It is {odrer}." }'),
      '5:13: steps.b.say: variable odrer is never set, did you mean order?',
    ],
    [
      'a variable of an address that is never set',
      flow('  main: { http: { url: "https://a.example/{order}" } }'),
      '4:24: steps.main.http.url: variable order is never set',
    ],
    [
      'a condition on a variable that is never set',
      flow('  main: { branch: { when: [{ if: { variable: a, is: 1 }, next: end }] } }'),
      '4:46: steps.main.branch.when.0.if.variable: variable a is never set',
    ],
    [
      'an answer that would be kept with the call',
      flow('  main: { gather: { prompt: A, kind: text, into: call.id } }'),
      '4:50: steps.main.gather.into: variable call.id is one of the call, expected one of the flow',
    ],
    [
      'an unknown format',
      flow('  main: { say: "{call.from:phoney}" }'),
      '4:16: steps.main.say: format: got "phoney", expected one of digits, number, date, time, amount, phone, spell',
    ],
    [
      'a brace that does not close',
      flow('  main: { say: "{a" }'),
      '4:16: steps.main.say: got "{a", expected a variable',
    ],
    [
      'a field that belongs to the verb beside it',
      flow('  main: { flow: { name: pay }, with: { a: 1 }, next: end }'),
      '4:32: steps.main.with: belongs to flow: it stands below that, two spaces further right',
    ],
    ['an unknown tag', flow('  main: { say: { text: "<b>a</b>" } }'), '4:24: steps.main.say.text: got "<b>", expected'],
    [
      'an unknown time zone',
      flow('  main: { hours: { timeZone: Berlin, week: {}, open: end, closed: end } }'),
      '4:30: steps.main.hours.timeZone: got "Berlin", expected a time zone',
    ],
    [
      'a time zone of the flow that there is not',
      `timeZone: Berlin\n${flow('  main: { say: Hello. }')}`,
      '1:11: timeZone: got "Berlin", expected a time zone',
    ],
    [
      'half days',
      flow('  main: { gather: { prompt: When?, kind: date, into: day, min: 0.5 } }'),
      '4:64: steps.main.gather.min: got 0.5, expected whole days from today',
    ],
    [
      'hours that end before they begin',
      flow('  main: { hours: { timeZone: UTC, week: { monday: [17:00-09:00] }, open: end, closed: end } }'),
      '4:52: steps.main.hours.week.monday.0: got 17:00-09:00, expected a later end',
    ],
    [
      'a holiday that is no day',
      flow('  main: { hours: { timeZone: UTC, week: {}, holidays: [02-30], open: end, closed: end } }'),
      '4:56: steps.main.hours.holidays.0: got "02-30", expected a day such as 2026-12-25 or 12-25',
    ],
    [
      'an address that is none',
      flow('  main: { http: { url: "ftp://a.example" } }'),
      '4:24: steps.main.http.url: got "ftp://a.example", expected an address such as https://example.com',
    ],
    [
      'a JSON path that is none',
      flow('  main: { http: { url: "https://a.example", take: { a: status } } }'),
      '4:56: steps.main.http.take.a: expected a JSON path that begins with $, such as $.order.status',
    ],
    [
      'an app that is no WebSocket',
      flow('  main: { app: { url: "https://a.example" } }'),
      '4:23: steps.main.app.url: got "https://a.example", expected an address such as wss://',
    ],
    [
      'a body without POST',
      flow('  main: { http: { url: "https://a.example", method: GET, body: {} } }'),
      '4:58: steps.main.http.body: is sent by POST alone',
    ],
    [
      'a header that is none',
      flow('  main: { http: { url: "https://a.example", headers: { "a b": c } } }'),
      '4:56: steps.main.http.headers.a b: expected the name of a header',
    ],
    [
      'a language that is none',
      flow('  main: { language: { to: "British English" } }'),
      '4:27: steps.main.language.to: got "British English", expected a language such as de or en-US',
    ],
    [
      'a message that has no room',
      flow('  main: { record: { minMs: 5000, maxMs: 1000 } }'),
      '4:41: steps.main.record.maxMs: got 1000, expected at least minMs (5000)',
    ],
    [
      'a text that YAML reads otherwise',
      flow('  main:', '    say: Now: here'),
      '5:10: a text with a colon and a space stands in quotes (Nested mappings',
    ],
  ])('is refused for %s, with the place', (_what, text, message) => {
    expect(errorsOf(text)).toEqual([expect.stringContaining(message)]);
    expect(readFlow(text, 'shop').flow).toBeNull();
  });

  it.each([
    ['a step that is never reached', flow(SAYS, '  b: { say: Bye. }'), '5:3: steps.b: is never reached'],
    [
      'a next that is never followed',
      flow('  main: { hangup: {}, next: end }'),
      '4:23: steps.main.next: is never followed: hangup says itself where the flow goes on',
    ],
    [
      'a variable that is never used',
      flow(SAYS, 'variables: { a: 1 }'),
      '5:14: variables.a: is never used in this flow',
    ],
    ['a parameter that is never used', flow(SAYS, 'parameters: { a: 1 }'), '5:15: parameters.a: is never used'],
  ])('is used with a warning of %s', (_what, text, message) => {
    expect(warningsOf(text)).toEqual([expect.stringContaining(message)]);
    expect(readFlow(text, 'shop').flow).not.toBeNull();
  });

  it.each([
    ['a round with a question', flow('  main: { confirm: { prompt: A, yes: end, no: repeat } }')],
    ['a round that a key ends', flow('  main: { say: A, next: main }', '  b: { say: Bye. }', 'keys: { 1: b }')],
    [
      'a request that is asked again after a pause',
      flow(
        '  main: { http: { url: "https://a.example", take: { done: "$.done" } }, next: b }',
        '  b: { branch: { when: [{ if: { variable: done, is: true }, next: end }], else: c } }',
        '  c: { say: One moment., next: main }',
      ),
    ],
    ['variables of the call', flow('  main: { say: "{call.from:phone} {call.orderNumber}" }')],
    [
      'a body whose fields are called text and into',
      flow('  main: { http: { url: "https://a.example", body: { text: "<b>", into: x } } }'),
    ],
    ['braces that are said', flow('  main: { say: "{{a}}" }')],
    ['a menu whose answer is kept', flow('  main: { menu: { prompt: A, choices: { a: { key: 1 } }, into: a } }')],
  ])('may have %s', (_what, text) => {
    expect([errorsOf(text), warningsOf(text)]).toEqual([[], []]);
  });
});
