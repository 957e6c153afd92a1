import assert from 'node:assert/strict';
import { drawFlow } from '../../../src/flows/file/draw-flow.ts';
import { RESERVED_TARGETS } from '../../../src/flows/file/flow.ts';
import { exitsOf } from '../../../src/flows/file/flow-graph.ts';
import { readFlow } from '../../../src/flows/file/read-flow.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** A flow's file: what is wrong has a place in the text, and a flow that is read leads to steps that it has. */
export const target: FuzzTarget = {
  name: 'flow-file',
  seeds: [
    'version: 1\nstart: a\nkeys: { 0: b, "*": back }\nvariables: { n: 1 }\nsteps:\n' +
      '  a: { menu: { prompt: "Hi {n:number}", choices: { x: { key: 1, say: [ex], next: b } },' +
      ' noInput: { next: a } } }\n' +
      '  b: { hangup: { prompt: { text: "Bye <break time=\\"500ms\\"/>", recording: bye } } }\n',
    'version: 1\nstart: h\nsteps:\n  h: { hours: { timeZone: Europe/Berlin, week: { monday: [09:00-17:00] },\n' +
      '    holidays: [12-25, { date: 2026-12-24, open: [10:00-12:00] }], open: g, closed: end } }\n' +
      '  g: { gather: { prompt: { recording: ask, text: Which? }, kind: digits, into: o, min: 1,' +
      ' max: 9 }, next: q }\n' +
      '  q: { http: { url: "https://a.example/{o}", headers: { x: "{o}" }, take: { s: $.status } }, next: w }\n' +
      '  w: { branch: { when: [{ if: { variable: s, is: sent }, next: h }], else: f } }\n' +
      '  f: { flow: { name: sub, with: { a: "{s}" }, into: { o: r } }, next: end }\n',
  ].map((text) => Buffer.from(text)),
  words: [
    '&a ',
    '*a',
    '<<: ',
    '? ',
    '|\n',
    '>-\n',
    '[',
    '{',
    '}',
    '{{',
    ': ',
    '#',
    '"',
    '\ufeff',
    '---\n',
    '\t',
    'end',
    'repeat',
    '__proto__',
    'constructor',
    'null',
    '24:00',
    '\u0000',
  ],
  run(input) {
    const text = Buffer.from(input).toString('utf8');
    const { flow, errors, warnings } = readFlow(text, 'fuzz');
    assert.equal(flow === null, errors.length > 0);
    const lines = text.split('\n').length;
    for (const { line, column, message } of [...errors, ...warnings]) {
      assert(line >= 1 && line <= lines + 1 && column >= 1, `${line}:${column}`);
      assert(message !== '' && message.length < 2000);
    }
    if (flow === null) return;
    for (const step of flow.steps.values())
      for (const { to } of exitsOf(step)) assert(flow.steps.has(to) || RESERVED_TARGETS.includes(to));
    assert(flow.steps.has(flow.start));
    assert(drawFlow(flow).length > flow.steps.size);
  },
};
