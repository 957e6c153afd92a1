import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAppFrame } from '../../../src/calls/app/frames.ts';

const FIXTURES = join(import.meta.dirname, '../../../fixtures/wire/relay');

function read(file: string): string {
  return readFileSync(join(FIXTURES, file), 'utf8');
}

/** The tables of the fixtures' README: file → what it gives. */
const TABLE = [...read('README.md').matchAll(/^\| `([^`]+)` \| ([^|]+) \|/gm)].map(
  ([, file = '', gives = '']) => [file, gives.trim()] as const,
);

describe('the frames of ConversationRelay', () => {
  it('all stand in the README of the fixtures', () => {
    const files = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'));
    expect(TABLE.map(([file]) => file).sort()).toEqual(files.sort());
  });

  it.each(TABLE.filter(([file]) => !file.startsWith('to-app/')))('%s → %s', (file, gives) => {
    expect(readAppFrame(read(file)).type).toBe(gives);
  });

  it('leave out what has a default, and nothing else is made up', () => {
    expect(readAppFrame('{"type":"text","token":"Hi"}')).toEqual({ type: 'text', token: 'Hi', last: false });
    expect(readAppFrame('{"type":"play","source":"https://a.example/b.wav"}')).toEqual({
      type: 'play',
      source: 'https://a.example/b.wav',
      loop: 1,
    });
  });

  it('may ask for digits', () => {
    const expects = { digits: { min: 4, max: 6 } };
    expect(readAppFrame(JSON.stringify({ type: 'text', token: 'Your PIN?', expects }))).toMatchObject({ expects });
    expect(readAppFrame('{"type":"text","token":"x","expects":{"digits":{},"later":1}}')).toMatchObject({
      expects: { digits: {} },
    });
  });

  it('play for ever a thousand times', () => {
    expect(readAppFrame(read('from-app/play-for-ever.json'))).toMatchObject({ loop: 1000 });
  });

  it.each([
    ['{"type":"text","token":null}', 'token: expected text'],
    ['{"type":"speak"}', 'type: expected text, play, sendDigits, language or end'],
    ['[]', 'expected an object'],
    ['hello', 'expected a JSON object, got text that is not JSON'],
    ['{"type":"language"}', 'expected ttsLanguage or transcriptionLanguage'],
    [
      '{"type":"text","token":"x","expects":{"digits":{"min":5,"max":4}}}',
      'expects.digits: expected min to be at most max',
    ],
    ['{"type":"text","token":"x","expects":{"digits":{"max":101}}}', 'expects.digits.max: expected at most 100'],
    ['{"type":"text","token":"x","interruptible":7}', 'interruptible: expected true, false, none, dtmf, speech or any'],
  ])('say of %s what is wrong', (message, what) => {
    expect(readAppFrame(message)).toEqual({ type: 'malformed', description: `Invalid message received: ${what}` });
  });

  it('never repeat much of what came', () => {
    const frame = readAppFrame(JSON.stringify({ type: 'text', token: 'x', lang: 'secret '.repeat(1000) }));
    expect(frame).toMatchObject({ type: 'malformed', description: expect.not.stringContaining('secret') });
  });

  it('come back as they were said, whatever is in the token', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (token, last) => {
        expect(readAppFrame(JSON.stringify({ type: 'text', token, last }))).toEqual({ type: 'text', token, last });
      }),
    );
  });
});
