import assert from 'node:assert/strict';
import { Lexicon } from '../../../engine/models/lexicon.ts';
import { type LexiconEntry, LexiconError, parseLexicon } from '../../../engine/models/lexicon-file.ts';
import type { FuzzTarget } from '../fuzz.ts';

function parse(text: string): LexiconEntry[] {
  try {
    return parseLexicon(text);
  } catch (error) {
    assert(error instanceof LexiconError, error as Error);
    return [];
  }
}

/** The words of a file, looked for in the file itself. */
export const target: FuzzTarget = {
  name: 'lexicon-file',
  seeds: [
    '# names\nTrunkline  /tɹˈʌŋklˌIn/\nSQL = sequel\n[en-GB] schedule /ʃˈɛdjuːl/\n',
    'New York = noo york\r\nO’Neil /oʊˈniːl/\nUS = U S\nus = uss\n[de-AT] A = B\n',
  ].map((text) => Buffer.from(text)),
  words: ['/tʃeɪ/', ' = ', '[en]', '[de-AT] ', '\n', 'S Q L', '’s', '\ufeff', 'İ', '😀'],
  run(input) {
    const text = Buffer.from(input).toString('utf8');
    const lexicon = new Lexicon(parse(text));
    for (const language of ['en-US', 'en-GB', 'de-AT']) {
      assert(lexicon.respell(text.slice(0, 1000), language).length <= 4000);
      lexicon.revision(language);
    }
    for (const accent of ['us', 'gb'] as const) lexicon.phonemes(accent);
  },
};
