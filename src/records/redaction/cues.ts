/** Words that say what a number is, before it or in a question that it answers. */
import type { Token } from './tokens.ts';

/** `other`: a number that may be kept, such as that of an order. */
export type Cue = 'card' | 'account' | 'phone' | 'ssn' | 'code' | 'birth' | 'iban' | 'email' | 'other';

const CUE_WORDS: readonly (readonly [Cue, string])[] = [
  ['card', 'card cards visa mastercard amex pan'],
  ['account', 'account accounts acct routing sort policyholder'],
  ['phone', 'phone telephone mobile cell cellphone fax landline call callback dial reach whatsapp'],
  ['ssn', 'social ssn'],
  ['code', 'cvv cvc cvv2 csc pin passcode'],
  ['birth', 'born birth birthday birthdate dob'],
  ['iban', 'iban'],
  ['email', 'email mail gmail emails'],
  [
    'other',
    'order orders tracking reference ref invoice ticket case booking confirmation reservation flight room gate bus ' +
      'train extension zip postal postcode serial model part version item sku claim parcel package shipment table ' +
      'pages page street avenue road',
  ],
];
const CUES: ReadonlyMap<string, Cue> = new Map(
  CUE_WORDS.flatMap(([cue, words]) => words.split(' ').map((word): [string, Cue] => [word, cue])),
);
/** What `code` is the code of. */
const CODES: ReadonlyMap<string, Cue> = new Map([
  ['security', 'code'],
  ['verification', 'code'],
  ['time', 'code'],
  ['secret', 'code'],
  ['area', 'phone'],
  ['sort', 'account'],
  ['zip', 'other'],
  ['postal', 'other'],
]);

/** How far before a number the word that names it may stand. */
const BEFORE_MAX_TOKENS = 12;
/** And how far behind it: "… is my card number". */
const BEHIND_MAX_TOKENS = 5;
/** An utterance that ends in such a word leaves the number to the next one. */
const LAST_TOKENS = 5;
/** What a request for a number has beside its name. */
const REQUESTS = new Set(
  (
    'what whats which may can could would please give tell confirm verify read provide enter type need number ' +
    'numbers digits date address is'
  ).split(' '),
);

/** What the word at `index` says of a number near it; null = nothing. */
export function cueAt(tokens: readonly Token[], index: number): Cue | null {
  const token = tokens[index];
  if (token === undefined || token.kind === 'sign') return null;
  const before = tokens[index - 1]?.key ?? '';
  if (token.key === 'code' || token.key === 'codes') return CODES.get(before) ?? 'other';
  // "In case", "on call", "PIN code" of India.
  if (token.key === 'case' && before === 'in') return null;
  return CUES.get(token.key) ?? null;
}

/** The nearest word before token `from` that names a number, or one shortly behind token `to`; null = none. */
export function cueFor(tokens: readonly Token[], from: number, to: number): Cue | null {
  for (let index = from - 1; index >= Math.max(from - BEFORE_MAX_TOKENS, 0); index--) {
    const cue = cueAt(tokens, index);
    if (cue !== null) return cue;
  }
  const saysSo = ['is', 'was', 'thats', 'as', 'for'].includes(tokens[to]?.key ?? '');
  for (let index = to; saysSo && index < Math.min(to + BEHIND_MAX_TOKENS, tokens.length); index++) {
    const cue = cueAt(tokens, index);
    if (cue !== null) return cue;
  }
  return null;
}

/** What number the next words of this speaker, or an answer of another, may be; null = no word of it. */
export function cueLeftBy(tokens: readonly Token[]): { readonly own: Cue | null; readonly asked: Cue | null } {
  let asked: Cue | null = null;
  let own: Cue | null = null;
  let isRequest = false;
  tokens.forEach((token, index) => {
    const cue = cueAt(tokens, index);
    asked = cue ?? asked;
    if (index >= tokens.length - LAST_TOKENS) own = cue ?? own;
    isRequest ||= token.key === '?' || REQUESTS.has(token.key);
  });
  return { own, asked: isRequest ? asked : null };
}
