import { type CaptionEvent, SPOKEN_TEXT_MAX_CHARS } from '../../../src/calls/feed/events.ts';
import { LiveCall } from '../../../src/records/redaction/live-call.ts';
import { readOwnPatterns } from '../../../src/records/redaction/own-patterns.ts';
import { StoredCall } from '../../../src/records/redaction/stored-call.ts';
import type { FuzzTarget } from '../fuzz.ts';

const SEEDS = [
  'My card is 4111 1111 1111 1111, and the code is one two three.',
  'four one one one\none one one one\nhold on\ndouble one double one one one one one',
  'GB82 WEST 1234 5698 7654 32\nD E eight nine three seven oh four',
  'anna dot lee at example dot com, or a.b@c.de. I was born on June fourth nineteen eighty four',
  '(415) 555-0132 or plus four four twenty seventy nine\n123-45-6789\n$1,250.00 at 3:15, 12.5 %',
];

/** Each is analysed seven times, with up to 20 others. */
const LINES_MAX = 12;
/** What is spoken in one go is cut to so many characters; what is heard comes in far shorter utterances. */
const INPUT_MAX_BYTES = SPOKEN_TEXT_MAX_CHARS;

const { patterns } = readOwnPatterns('policy: \\bpol(icy)?-?\\d{2,8}\\b\nword: (a|b)+c');

/** Lines are utterances; every other prefix of one is a partial. Called by all that anybody says in a call. */
export const target: FuzzTarget = {
  name: 'redaction',
  seeds: SEEDS.map((text) => new TextEncoder().encode(text)),
  words: [
    '4111',
    'double',
    'oh',
    ' at ',
    ' dot ',
    '@',
    'IBAN',
    'born',
    '٤',
    '\n',
    ' hundred ',
    '+',
    'pol',
    '4'.repeat(40),
  ],
  run: (input) => {
    const stored = new StoredCall(patterns);
    const live = new LiveCall('CA1', patterns);
    let stable = '';
    let id = 0;
    const times = { startMs: 0, endMs: 0, lagMs: 0 };
    const caption = { type: 'caption', callId: 'CA1', track: 'inbound', ...times } as const;
    const texts = new TextDecoder().decode(input.subarray(0, INPUT_MAX_BYTES)).split('\n', LINES_MAX);
    for (const [index, text] of texts.entries()) {
      stable = '';
      for (const chars of [Math.floor(text.length / 3), Math.floor(text.length / 2), text.length]) {
        const said = text.slice(0, chars);
        const partial = { ...caption, utterance: index + 1, stable: said, tail: '', text: said, final: false };
        const [shown] = live.take(partial, id * 100) as CaptionEvent[];
        if (shown === undefined || !shown.stable.startsWith(stable)) throw new Error('stable has shrunk');
        if (shown.text !== shown.stable + shown.tail) throw new Error('the text is not stable and tail');
        stable = shown.stable;
      }
      const final = { ...caption, utterance: index + 1, stable: text, tail: '', text, final: true };
      const [told] = live.take(final, id * 100) as CaptionEvent[];
      if (told === undefined || !told.stable.startsWith(stable)) throw new Error('stable has shrunk');
      stored.take(`e-${++id}`, final, id * 100);
    }
    stored.settle(1e9);
    live.settle(1e9);
  },
};
