import assert from 'node:assert/strict';
import { FileError } from '../../../src/foundation/yaml-text.ts';
import { CardDeck } from '../../../src/hints/card-deck.ts';
import { parseCards } from '../../../src/hints/cards.ts';
import type { FuzzTarget } from '../fuzz.ts';

const SAID = 'My internet is very slow, and I want to cancel my contract: 24 4111 don’t!';

/** HINTS_FILE: what is read of it has titles of its own and links to the web, and is looked for in a bounded time. */
export const target: FuzzTarget = {
  name: 'hints-file',
  seeds: [
    'about: We sell lines.\ncards:\n  - words: [very slow, "24"]\n    track: inbound\n    title: A\n    text: B\n',
    'cards:\n  - { pattern: "(cancel|end) .{0,9}contract", title: T, text: X, link: "https://a.b/", once: false }\n',
    '{"cards": [{"words": ["don\'t"], "title": "T", "text": "X"}]}',
  ].map((text) => Buffer.from(text)),
  words: ['&a ', '*a', '<<: ', '? ', '|\n', '>-\n', '{1,100}', '(a+)+', '\\b', 'javascript:', '\ufeff', 'İ', '---\n'],
  run(input) {
    try {
      const file = parseCards(Buffer.from(input).toString('utf8'), 'hints.yaml');
      assert.equal(new Set(file.cards.map(({ title }) => title)).size, file.cards.length);
      for (const { link } of file.cards) assert(link === null || /^https?:$/.test(new URL(link).protocol));
      for (const { words } of new CardDeck(file).find(SAID, 0, 'inbound')) assert(SAID.includes(words));
    } catch (error) {
      assert(error instanceof FileError, error as Error);
    }
  },
};
