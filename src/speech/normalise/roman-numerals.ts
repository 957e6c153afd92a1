/** Roman numerals behind words that are counted with them; elsewhere capitals are letters. */
import { cardinal, ordinal } from './words.ts';

/** `Chapter IV` is the fourth of its kind, and read "chapter four". */
const COUNTED =
  'Chapter|Part|Act|Scene|Section|Volume|Book|Phase|Article|World War|Mark|Type|Level|Stage|Class|Grade|Episode|' +
  'Round|Appendix|Table|Figure|Title|Tier|Super Bowl|Apollo';
/** `Henry VIII` is the eighth of his name. */
const NAMED =
  'Henry|Louis|Edward|George|William|Charles|James|Richard|Elizabeth|Mary|Napoleon|Pius|Benedict|Leo|John|Paul|' +
  'Gregory|Francis|Frederick|Philip|Alexander|Nicholas|Peter|Catherine|Ivan|Gustav|Christian|Ferdinand|Wilhelm|Ramses';
const NUMERAL = '(?=[IVXLC])(C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))';
const BEHIND_COUNTED = new RegExp(String.raw`(?<!\w)(${COUNTED}) ${NUMERAL}(?![\w'’&]|\.\w)`, 'g');
/** One letter behind a name may be the next word, as in "did Charles I know". */
const BEHIND_NAME = new RegExp(String.raw`(?<!\w)(${NAMED}) (?=[IVXLC]{2}|[VX](?!\w))${NUMERAL}(?![\w'’&]|\.\w)`, 'g');

const VALUES: Readonly<Record<string, number>> = Object.freeze({ I: 1, V: 5, X: 10, L: 50, C: 100 });

/** Writes out Roman numerals: `Part II` → `Part two`, `Louis XIV` → `Louis the fourteenth`. */
export function sayRomanNumerals(text: string): string {
  return text
    .replace(BEHIND_COUNTED, (_, noun: string, numeral: string) => `${noun} ${cardinal(valueOfRoman(numeral))}`)
    .replace(BEHIND_NAME, (_, name: string, numeral: string) => `${name} the ${ordinal(valueOfRoman(numeral))}`);
}

/** A smaller letter before a larger one is taken from it. */
function valueOfRoman(numeral: string): number {
  const values = Array.from(numeral, (letter) => VALUES[letter] ?? 0);
  return values.reduce((sum, value, at) => sum + (value < (values[at + 1] ?? 0) ? -value : value), 0);
}
