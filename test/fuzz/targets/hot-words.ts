import assert from 'node:assert/strict';
import { HotWordSearch, HotWords } from '../../../engine/models/hot-words.ts';
import { PieceEncoder } from '../../../engine/models/piece-encoder.ts';
import {
  boundHotWords,
  findHotWordProblem,
  hotWordsOfPrompt,
  splitHotWords,
} from '../../../src/foundation/hot-words.ts';
import type { FuzzTarget } from '../fuzz.ts';

const BYTES = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
const PIECES = [...BYTES, '\u2581', ...'abcdekov', 'ov', 'ac', '\u2581k', '\u2581kov', '東', '京', '東京'];
const TOKENS = 100;
const encoder = new PieceEncoder(PIECES);
const vocabulary = {
  encode: (text: string) => encoder.encode(text),
  textOf: (token: number) => (PIECES[token] ?? '').replaceAll('\u2581', ' '),
};

/** Any text gives hot words within their bounds; any logits give a text with them, in a bounded number of steps. */
export const target: FuzzTarget = {
  name: 'hot-words',
  seeds: ['Kovac, Müller; o’kov', 'Names: kov, ac.', '東京,\u202eabc,😀😀😀', '__proto__,\u0000,a\u0301'].map((text) =>
    Buffer.from(text),
  ),
  words: [',', ' ', '\n', 'kov', '京', '😀', '\u200f', 'constructor'],
  run(input) {
    const text = Buffer.from(input).toString('utf8');
    hotWordsOfPrompt(text);
    const words = boundHotWords(splitHotWords(text));
    assert.equal(findHotWordProblem(words), null);
    const search = new HotWordSearch(new HotWords(words, vocabulary));
    const logit = (token: number) => (input[(token * 31 + search.tokens.length) % (input.length || 1)] ?? 0) / 16;
    let steps = 0;
    for (; search.tokens.length < TOKENS; steps++) {
      assert.ok(steps < 10 * TOKENS, 'it comes to no end');
      search.choose((input[steps % (input.length || 1)] ?? 0) % PIECES.length, logit);
    }
    assert.ok(search.end() <= TOKENS);
  },
};
