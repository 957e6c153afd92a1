/**
 * Text → words for the word error rate, applied to reference and hypothesis alike: lower case, no punctuation, numbers
 * and contractions spelt out, initials and compounds joined, so that only what was heard counts and not how it was
 * written.
 */
import { numberWords } from './numbers.ts';

/** Spelling variants, typing errors of the published transcripts, and contractions → one form. */
const SAME_WORD: Readonly<Record<string, string>> = {
  umute: 'unmute',
  represenatives: 'representatives',
  indentified: 'identified',
  witheld: 'withheld',
  thru: 'through',
  ok: 'okay',
  alright: 'all right',
  canceled: 'cancelled',
  dialling: 'dialing',
  mr: 'mister',
  dr: 'doctor',
  "can't": 'cannot',
  "i'm": 'i am',
  "i'd": 'i would',
  "i'll": 'i will',
  "i've": 'i have',
  "it's": 'it is',
  "that's": 'that is',
  "there's": 'there is',
  "they're": 'they are',
  "we'll": 'we will',
  "we're": 'we are',
  "we've": 'we have',
  "who's": 'who is',
  "you'd": 'you would',
  "you'll": 'you will',
  "you're": 'you are',
  "you've": 'you have',
};

/** Written apart or together: counted as together. */
const COMPOUNDS = [
  'voice mail', 'mail box', 'touch tone', 're enter', 're entered', 're record', 'black list', 'key pad',
  'non administrator', 'good bye', 'un delete', 'un mute', 'hang up', 'log on', 'phone number', 'on line',
  'area code', 'un identified', 'in correct', 'un available', 'tele marketers', 'call back', 're recording',
  'speed dial', 'face book', 'along side', 'key words', 'can not', 'file name', 'log in',
]; // biome-ignore format: a word list reads best packed

const SYMBOLS: readonly (readonly [RegExp, string])[] = [
  [/#/g, ' pound '],
  [/\*/g, ' star '],
  [/&/g, ' and '],
  [/@/g, ' at '],
];

/** The words of `text` in the one form that error rates are counted in. */
export function normaliseWords(text: string): string[] {
  const spelt = spellOut(` ${text.toLowerCase()} `.replace(/[\u2018\u2019`]/g, "'").replace(/[\u201c\u201d"]/g, ' '));
  const bare = spelt
    .replace(/[^a-z' ]+/g, ' ')
    .replace(/(^| )'+|'+( |$)/g, ' ')
    .trim();
  const words = bare.split(/\s+/).filter((word) => word !== '');
  const expanded = words.flatMap((word) => (SAME_WORD[word] ?? word).split(' ')).map((word) => word.replace(/'/g, ''));
  return joinCompounds(joinInitials(expanded));
}

function spellOut(text: string): string {
  const withNames = text
    .replace(/www\.asterisk\.org/g, 'w w w dot asterisk dot org')
    .replace(/([a-z])\.(com|org|net)\b/g, '$1 dot $2');
  const joined = withNames.replace(/\b([a-z])\.(?=[a-z]\.)/g, '$1').replace(/\b([a-z]{2,})\.(?=[a-z]\.)/g, '$1');
  return SYMBOLS.reduce((result, [pattern, word]) => result.replace(pattern, word), numberWords(joined));
}

/** `p b x` → `pbx`; a lone `a` or `i` stays a word. */
function joinInitials(words: readonly string[]): string[] {
  const joined: string[] = [];
  let i = 0;
  while (i < words.length) {
    let end = i;
    while (words[end]?.length === 1) end++;
    const next = end - i >= 2 ? end : i + 1;
    joined.push(words.slice(i, next).join(''));
    i = next;
  }
  return joined;
}

function joinCompounds(words: readonly string[]): string[] {
  let line = ` ${words.join(' ')} `;
  for (const compound of COMPOUNDS) line = line.replaceAll(` ${compound} `, ` ${compound.replaceAll(' ', '')} `);
  return line.split(' ').filter((word) => word !== '');
}
