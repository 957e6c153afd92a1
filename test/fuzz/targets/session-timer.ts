import assert from 'node:assert/strict';
import {
  agreedTerms,
  answerHeaders,
  answerTerms,
  readTimerHeaders,
  requestHeaders,
} from '../../../src/carriers/sip/wire/session-timer.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** Headers, one a line, and what is made of them. */
export const target: FuzzTarget = {
  name: 'session-timer',
  seeds: [
    'supported: timer, 100rel\nsession-expires: 1800;refresher=uac\nmin-se: 90',
    'require: Timer\nsession-expires: 90 ; x=1; refresher = "uas"\nmin-se: 4294967295',
    'session-expires: 89\nsupported:',
  ].map((text) => Buffer.from(text)),
  words: [
    'supported: ',
    'require: ',
    'session-expires: ',
    'min-se: ',
    'timer',
    ';refresher=',
    'uac',
    'uas',
    '4294967296',
    '90',
    '\n',
  ],
  run(input) {
    const lines = Buffer.from(input).toString('latin1').split('\n');
    const headers = readTimerHeaders((name) =>
      lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1)),
    );
    assert(headers.minimumS >= 90);
    for (const terms of [answerTerms(headers, 0), answerTerms(headers, 1800), agreedTerms(headers)]) {
      if (terms === null || terms === 'too-small') continue;
      assert(
        Number.isInteger(terms.intervalS) && terms.intervalS >= 90 && terms.intervalS <= 86_400,
        `an interval of ${terms.intervalS} s`,
      );
      // What is said of it is read as the same again.
      const said = [...answerHeaders(terms), ...requestHeaders(terms.intervalS, terms.refresher, 90)];
      const again = readTimerHeaders((name) =>
        said.filter((line) => line.toLowerCase().startsWith(`${name}: `)).map((line) => line.slice(name.length + 2)),
      );
      assert.deepEqual(again.expires, terms);
    }
  },
};
