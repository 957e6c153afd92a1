/** Signs: those with a name are written out, others are removed. */

import { digitWords } from './words.ts';

const KEY = /(?<=(?<!\w)(?:press|dial|hit|enter|push|key)(?: the)? )([*#])/gi;

/** Signs that belong to the next number. */
const NUMBER_SIGNS: readonly (readonly [RegExp, string])[] = [
  [/ ?#(?=\d)/g, ' number '],
  [/~(?=\d)/g, ' about '],
  [/(?<=\d) ?\* ?(?=\d)/g, ' times '],
];
const STAR_CODE = /(?<!\S)([*#])(\d{1,4})(?!\w)/g;

const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/#(?=\p{L})/gu, ' hashtag '],
  [/ ?(?:->|=>|<-) ?/g, ' to '],
  [/²/g, ' squared'],
  [/³/g, ' cubed'],
  [/&/g, ' and '],
  [/@/g, ' at '],
  [/\+/g, ' plus '],
  [/=/g, ' equals '],
  [/</g, ' less than '],
  [/>/g, ' greater than '],
  [/%/g, ' percent '],
  [/°/g, ' degrees '],
  [/¢/g, ' cents '],
  [/€/g, ' euros '],
  [/£/g, ' pounds '],
  [/\$/g, ' dollars '],
  [/(?<=\p{L})\/(?=\p{L})/gu, ' slash '],
  [/(?<=[\p{L}\p{N}])\.(?=[\p{L}\p{N}])/gu, ' dot '],
  [/(?<=\s)-{1,3}(?=\s)|--+/g, ', '],
  [/[*_^~|\\{}[\]<>/#`]/g, ' '],
];

/** Writes out signs before a number: `#5`, `~20`, and `*67` as it is dialled. Must run while there are digits. */
export function sayNumberSigns(text: string): string {
  const dialled = text.replace(STAR_CODE, (match, key: string, digits: string) =>
    key === '*' ? `star ${digitWords(digits)}` : match,
  );
  return NUMBER_SIGNS.reduce((said, [pattern, words]) => said.replace(pattern, words), dialled);
}

/** Writes out signs. `#` and `*` may be keys of a telephone. */
export function saySigns(text: string): string {
  const withKeys = text.replace(KEY, (key) => (key === '#' ? 'pound' : 'star'));
  return SIGNS.reduce((said, [pattern, words]) => said.replace(pattern, words), withKeys);
}

/** Leaves one space between words, none before a comma, and no comma after another. */
export function tidy(text: string): string {
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .replace(/ (?=[,;:!?]|\.(?!\d))/g, '')
    .replace(/,(?: ?,)+/g, ',')
    .replace(/([.!?:;]),/g, '$1')
    .replace(/^[,;: ]+/, '')
    .trim();
}
