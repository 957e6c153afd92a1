import assert from 'node:assert/strict';
import type { ValueFormat } from '../../../src/flows/prompts/prompt-text.ts';
import { speakValue } from '../../../src/flows/speak/speak-value.ts';
import { chooseSpoken } from '../../../src/flows/understand/choices.ts';
import type { Question } from '../../../src/flows/understand/question.ts';
import { understand } from '../../../src/flows/understand/understand.ts';
import type { FuzzTarget } from '../fuzz.ts';

const NOW = new Date('2026-11-23T12:00:00Z');
const LANGUAGES = ['en-US', 'de', 'es', 'fr', 'zz'];
/** Each kind of question, the form of its values, and the format that says them. */
const KINDS: readonly [Question['kind'], RegExp, ValueFormat | 'text'][] = [
  ['digits', /^\d{1,64}$/, 'digits'],
  ['phone', /^\+?\d{3,18}$/, 'phone'],
  ['number', /^-?\d/, 'number'],
  ['amount', /^[A-Z]{3} -?\d/, 'amount'],
  ['date', /^\d{4}-\d\d-\d\d$/, 'date'],
  ['time', /^([01]\d|2[0-3]):[0-5]\d$/, 'time'],
  ['yesNo', /^(true|false)$/, 'text'],
];
/** Their values are said so that they are understood as themselves. */
const SAID_WHOLE = ['digits', 'date', 'time', 'yesNo'];
const CHOICES = { sales: { key: '1', say: ['buying'] }, support: { key: '2', say: ['technical support'] }, hours: {} };

/** What a recogniser wrote as an answer, of every kind and language; and values said that stand in variables. */
export const target: FuzzTarget = {
  name: 'flow-answers',
  seeds: [
    'double five four oh two, no wait, 55',
    'the third of May twenty twenty seven at half past nine p.m.',
    'dreiundzwanzigtausendfünfhundert Euro und fünfzig Cent',
    'minus one point five million',
    '+49 (0)30 123456 extension 12',
    'not sales but sails',
    'EUR 12.50',
    '2027-05-03',
    '14:30',
  ].map((text) => Buffer.from(text)),
  words: [
    'hundert',
    'und',
    'quatre-vingt',
    ' of ',
    'a ',
    '-',
    '1,',
    '.',
    '24:00',
    ' to ',
    'second',
    'week',
    '٤',
    'ß',
    '\u0301',
  ],
  run(input) {
    const text = Buffer.from(input).toString();
    for (const language of LANGUAGES) {
      for (const [kind, form, format] of KINDS) {
        const question = { kind, language, now: NOW, currency: 'EUR' };
        const value = understand(text, question)?.value ?? null;
        speakValue(text, format, language, { now: NOW });
        if (value === null) continue;
        assert.match(String(value), form, kind);
        if (!SAID_WHOLE.includes(kind) || language === 'zz') continue;
        // Other years are written, but not said.
        if (kind === 'date' && !/^(19|2[01])/.test(String(value))) continue;
        assert.equal(understand(speakValue(value, format, language), question)?.value, value, `${language} ${kind}`);
      }
      const chosen = chooseSpoken(text, CHOICES, language);
      assert(chosen === null || Object.hasOwn(CHOICES, chosen));
    }
  },
};
