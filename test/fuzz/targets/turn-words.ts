import assert from 'node:assert/strict';
import { saidWords } from '../../../src/calls/outbound/backchannels.ts';
import { grammarHold } from '../../../src/transcription/open-ended.ts';
import { spokenDigits } from '../../../src/transcription/spoken-digits.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** What a recogniser wrote, read for digits, for agreement and for a phrase that goes on. */
export const target: FuzzTarget = {
  name: 'turn-words',
  seeds: ['Four one five, double-oh 55.', 'Uh-huh, I see. Got', 'My number is', '٤٥٦ 我的', ''].map((text) =>
    Buffer.from(text),
  ),
  words: ['twenty', 'triple ', 'all right', 'thats', 'mhm', '-', '．', '\u0301'],
  run(input) {
    const text = Buffer.from(input).toString();
    const { count, only } = spokenDigits(text);
    assert(count >= 0 && count <= 2 * text.length, `${count} digits`);
    const { words, meant } = saidWords(text);
    assert(meant <= words, `${meant} of ${words} words`);
    if (only) assert(words > 0, 'digits without words');
    grammarHold(text, 'en');
  },
};
