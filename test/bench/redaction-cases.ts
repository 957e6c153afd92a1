/**
 * What redaction is tried on. Braces mark what is private: `{card:4111 …}`. Some are written by hand, the hard ones;
 * the rest are made by rules, from numbers whose check digits are right, in all the ways in which people say digits.
 */
import { passesLuhn, passesMod97 } from '../../src/records/redaction/checks.ts';
import { uniform } from '../helpers/signals.ts';

/** Utterances of one side, in order; the other side's question comes first. */
export interface RedactionCase {
  readonly asked?: string;
  readonly said: readonly string[];
}

const CARD_PREFIXES = ['4', '51', '53', '55', '2221', '37', '6011', '4', '4'];
const DIGIT_WORDS = 'zero one two three four five six seven eight nine'.split(' ');
const TEENS = 'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' ');
const TENS = '- - twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const MONTHS = 'January March May June August October December'.split(' ');

/** Hand-written ones that are private. */
const HARD: readonly RedactionCase[] = [
  {
    said: [
      'Okay so it is {card:four one one one, uh, one one one one, then double one double one, and one one one one}.',
    ],
  },
  { said: ['It says {card:forty-one eleven, eleven eleven, eleven eleven, eleven eleven} on the front.'] },
  { said: ['{card:Three seven eight two, eight two two four six three, one triple oh five}, it is an Amex.'] },
  { said: ['Card {card:5555-5555-5555-4444}, expires twelve twenty seven.'] },
  {
    asked: 'Can I have the card number?',
    said: [
      'Sure.',
      '{card:Four five three two}',
      'One second.',
      '{card:zero one five one one}',
      '{card:two eight three oh three six six}',
    ],
  },
  { said: ['The number on my Visa is {card:4539 1488 0343 6468} I think.'] },
  { said: ['My card number is {card:4539 1488 0343 6460}.'] },
  { asked: 'And the three digits on the back, the security code?', said: ['{code:Seven oh nine}.'] },
  { said: ['the CVV is {code:123}'] },
  { asked: 'What is your account number?', said: ['Um, it is {account:eight eight oh one four two}.'] },
  {
    said: ['Sort code {account:twenty thirty forty}, account number {account:three one nine two six eight one nine}.'],
  },
  { said: ['You can reach me on {phone:oh seven seven double oh nine double oh one two three}.'] },
  { said: ['Call me back at {phone:four one five, five five five, oh one three two}.'] },
  { said: ['{phone:+44 20 7946 0958}, that is my office.'] },
  { said: ['It is {phone:one eight hundred five five five oh one nine nine}.'] },
  { asked: 'What number can we reach you at?', said: ['{phone:Five five five}', '{phone:oh one three two}'] },
  { said: ['My social is {ssn:one two three, four five, six seven eight nine}.'] },
  { asked: 'The last four of your social security number, please?', said: ['{ssn:Six seven eight nine}.'] },
  { said: ['{ssn:219-09-9999}'] },
  { said: ['Anna, {email:anna dot lee at example dot com}.'] },
  { said: ['It is all lower case, {email:j underscore smith seven at my dash shop dot co dot uk}.'] },
  { said: ['Send it to {email:anna.lee@example.com}, please.'] },
  { asked: 'What is your email address?', said: ['{email:bob at gmail dot com}'] },
  { said: ['My email is {email:m m jones at yahoo dot com}.'] },
  {
    said: [
      'IBAN {iban:D E eighty-nine, thirty-seven oh four, oh oh four four, oh five three two, oh one three oh, oh oh}.',
    ],
  },
  { said: ['{iban:GB82 WEST 1234 5698 7654 32}'] },
  { asked: 'Could you read me the IBAN?', said: ['{iban:NL91}', '{iban:ABNA}', '{iban:0417 1643 00}'] },
  { asked: 'And your date of birth?', said: ['{birth:The fourth of June, nineteen eighty four}.'] },
  { said: ['I was born on {birth:March 3rd, 1971}.'] },
  { asked: 'Can you confirm your date of birth for me?', said: ['{birth:oh six, oh four, eighty four}'] },
  { said: ['She was born in {birth:two thousand and three}.'] },
];

/** Hand-written ones with nothing private in them. */
const PLAIN: readonly RedactionCase[] = [
  'Your order number is 48213.',
  'My order number is four one five five five five zero one three two.',
  'The tracking number is 1234 5678 9012 3456.',
  'It was booked under reference eight eight oh one four two.',
  'A payment of $1,250.00 was received on March 3rd.',
  'It costs one hundred and twenty five dollars and fifty cents.',
  'We are open from nine to five thirty.',
  'One moment please.',
  'A table for two, or for four?',
  'No, the other one, not this one.',
  'It happened in nineteen eighty four, or in 1985.',
  'The invoice of June 14th 2019 is still open.',
  'The meeting is on the fourth of June at ten fifteen.',
  'Flight twelve thirty four leaves at six forty five from gate twenty two.',
  'Press one for sales, two for support, three for billing.',
  'Take one two times a day for ten days.',
  'The last four digits of your card are 8830.',
  'I paid with my card, two times in three days.',
  'My account has been locked since 2021.',
  'I called you three times in the last 24 hours.',
  'You can find it at example dot com.',
  'Look at the website, it is at trunkline dot org.',
  'He lives at 118 Oak Avenue, apartment 12.',
  'The zip code is 90210.',
  'Version 2.14.3 came out on 2024-05-01.',
  'It weighs about 350 grams and is 42 centimetres wide.',
  'There are 7,900,000 people in the city.',
  'Twenty twenty was a hard year.',
  'I was born in Berlin and have two children.',
  'The part number is 8 0 0 4 4 2 1.',
  'Room four twelve, on the fourth floor.',
  'We talked for five or six minutes.',
  'The code is on the box, you know, the one with two lines.',
  'It is between 5 and 10 percent.',
  'I am number 23 in the queue.',
].map((text) => ({ said: [text] }));

/** All cases; the same with the same seed. */
export function redactionCases(
  each: number,
  seed: number,
): { readonly secret: RedactionCase[]; readonly plain: RedactionCase[] } {
  const random = uniform(seed);
  const made = Array.from({ length: each }, () => [
    card(random),
    phone(random),
    account(random),
    ssn(random),
    iban(random),
    email(random),
    birth(random),
  ]).flat();
  const plain = Array.from({ length: each }, () => plainCase(random));
  return { secret: [...HARD, ...made], plain: [...PLAIN, ...plain] };
}

/** One that is dictated in groups of `size` digits, an utterance each. */
export function dictatedCard(random: () => number, size: number): RedactionCase {
  const digits = cardDigits(random);
  const isSpoken = random() < 0.5;
  const groups = digits.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
  return { said: groups.map((group) => `{card:${isSpoken ? words(group, random) : group}}`) };
}

type Random = () => number;

function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}

function digitsOf(random: Random, count: number): string {
  return Array.from({ length: count }, () => Math.floor(random() * 10)).join('');
}

function cardDigits(random: Random): string {
  const prefix = pick(random, CARD_PREFIXES);
  const length = prefix === '37' ? 15 : 16;
  const body = prefix + digitsOf(random, length - 1 - prefix.length);
  return body + Array.from({ length: 10 }, (_, last) => String(last)).find((last) => passesLuhn(body + last));
}

/** Digits as people and recognisers write them. */
function figures(digits: string, random: Random): string {
  const size = pick(random, [4, 4, 3]);
  const groups = digits.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
  return pick(random, [digits, groups.join(' '), groups.join('-'), [...digits].join(' '), [...digits].join('-')]);
}

/** Digits as people say them: one by one, doubled, in pairs. */
function words(digits: string, random: Random): string {
  const inPairs = random() < 0.25;
  const zero = pick(random, ['zero', 'oh']);
  const said: string[] = [];
  for (let at = 0; at < digits.length; ) {
    const [first = '', second = ''] = digits.slice(at, at + 2);
    // "Forty, five" is 45 to everybody.
    if (inPairs && second !== '' && first !== '0' && second !== '0') {
      said.push(pair(Number(first), Number(second)));
      at += 2;
    } else if (first === second && random() < 0.5) {
      said.push(`double ${DIGIT_WORDS[Number(first)]}`);
      at += 2;
    } else {
      said.push(first === '0' ? zero : (DIGIT_WORDS[Number(first)] ?? ''));
      at += 1;
    }
    if (at % 4 === 0 && at < digits.length && random() < 0.5)
      said.push(pick(random, [',', ', uh,', 'and then', 'dash']));
  }
  return said.join(' ').replaceAll(' ,', ',');
}

function pair(tens: number, unit: number): string {
  if (tens === 1) return TEENS[unit] ?? '';
  return unit === 0 ? (TENS[tens] ?? '') : `${TENS[tens]} ${DIGIT_WORDS[unit]}`;
}

function render(digits: string, random: Random): string {
  return random() < 0.5 ? figures(digits, random) : words(digits, random);
}

function card(random: Random): RedactionCase {
  const number = `{card:${render(cardDigits(random), random)}}`;
  return pick<() => RedactionCase>(random, [
    () => ({ said: [`My card number is ${number}.`] }),
    () => ({ said: [`It is ${number}, and it expires next year.`] }),
    () => ({ said: [number] }),
    () => ({ asked: 'Can I have your card number?', said: [`Yes, ${number}.`] }),
    () => dictatedCard(random, 4),
  ])();
}

function phone(random: Random): RedactionCase {
  const digits = `${pick(random, ['415', '212', '619', '303'])}555${digitsOf(random, 4)}`;
  const number = `{phone:${render(digits, random)}}`;
  return pick(random, [
    { said: [`My phone number is ${number}.`] },
    { said: [`You can call me at ${number} after six.`] },
    { said: [`It is ${number}.`] },
    { asked: 'What is the best number to reach you?', said: [number] },
  ]);
}

function account(random: Random): RedactionCase {
  const number = `{account:${render(`${1 + Math.floor(random() * 9)}${digitsOf(random, 7)}`, random)}}`;
  return pick(random, [
    { said: [`My account number is ${number}.`] },
    { said: [`It is for account ${number}, please.`] },
    { asked: 'What is your account number?', said: [`It is ${number}.`] },
  ]);
}

function ssn(random: Random): RedactionCase {
  const [area, group, serial] = [`2${digitsOf(random, 2)}`, `4${digitsOf(random, 1)}`, `7${digitsOf(random, 3)}`];
  const written = pick(random, [`${area}-${group}-${serial}`, `${area} ${group} ${serial}`]);
  const spoken = [area, group, serial].map((digits) => words(digits, () => 0.9)).join(', ');
  return pick(random, [
    { said: [`{ssn:${written}}`] },
    { said: [`My social security number is {ssn:${spoken}}.`] },
    { asked: 'What is your social security number?', said: [`{ssn:${pick(random, [written, spoken])}}`] },
  ]);
}

function iban(random: Random): RedactionCase {
  const [country, length] = pick(random, [
    ['DE', 22],
    ['NL', 18],
    ['GB', 22],
    ['FR', 27],
  ] as const);
  const bank = country === 'NL' || country === 'GB' ? pick(random, ['ABNA', 'WEST', 'BARC']) : '';
  const rest = bank + digitsOf(random, length - 4 - bank.length);
  const check = Array.from({ length: 97 }, (_, index) => String(index + 2).padStart(2, '0')).find((digits) =>
    passesMod97(country + digits + rest),
  );
  const whole = country + check + rest;
  const written = pick(random, [whole, (whole.match(/.{1,4}/g) ?? []).join(' ')]);
  const spelt = [...whole]
    .map((character) => (/\d/.test(character) ? (DIGIT_WORDS[Number(character)] ?? '') : character))
    .join(' ');
  return pick(random, [
    { said: [`My IBAN is {iban:${written}}.`] },
    { said: [`{iban:${written}}`] },
    { said: [`It is {iban:${spelt}}.`] },
  ]);
}

function email(random: Random): RedactionCase {
  const [first, last] = [
    pick(random, ['anna', 'bob', 'maria', 'tom']),
    pick(random, ['lee', 'smith', 'garcia', 'novak']),
  ];
  const host = pick(random, ['gmail', 'example', 'acme', 'outlook']);
  const top = pick(random, ['com', 'org', 'net', 'de']);
  const spoken = pick(random, [`${first} dot ${last}`, `${first} underscore ${last}`, `${first} dot ${last} four two`]);
  return pick(random, [
    { said: [`{email:${first}.${last}@${host}.${top}}`] },
    { said: [`You can write to {email:${spoken} at ${host} dot ${top}}.`] },
    { said: [`My email address is {email:${first} ${last} at ${host} dot ${top}}.`] },
    { asked: 'What is your email?', said: [`{email:${first} at ${host} dot ${top}}`] },
  ]);
}

function birth(random: Random): RedactionCase {
  const [month, day, year] = [pick(random, MONTHS), 1 + Math.floor(random() * 28), 1950 + Math.floor(random() * 50)];
  const spokenYear = `nineteen ${pair(Math.floor((year % 100) / 10), year % 10)}`;
  const date = pick(random, [
    `${month} ${day}, ${year}`,
    `${month} ${DIGIT_WORDS[day % 9] === 'zero' ? 'first' : 'fourth'}, ${spokenYear}`,
    `${String(day).padStart(2, '0')}/06/${year}`,
  ]);
  return pick(random, [
    { said: [`I was born on {birth:${date}}.`] },
    { said: [`My date of birth is {birth:${date}}.`] },
    { asked: 'What is your date of birth?', said: [`{birth:${date}}.`] },
  ]);
}

/** Orders, prices, times, quantities. */
function plainCase(random: Random): RedactionCase {
  const count = 2 + Math.floor(random() * 90);
  const tens = Math.max(Math.floor(count / 10), 1);
  const spoken = pair(tens, count % 10);
  return pick<() => RedactionCase>(random, [
    () => ({ said: [`My order number is ${render(digitsOf(random, 5 + Math.floor(random() * 5)), random)}.`] }),
    () => ({ asked: 'What is your order number?', said: [`It is ${render(digitsOf(random, 8), random)}.`] }),
    () => ({ said: [`The ticket is number ${digitsOf(random, 6)}.`] }),
    () => ({ said: [`That comes to $${count}.${digitsOf(random, 2)}.`] }),
    () => ({ said: [`I need ${spoken} of them by ${pick(random, MONTHS)} ${1 + (count % 28)}.`] }),
    () => ({ said: [`Can you come at ${1 + (count % 12)}:${pick(random, ['15', '30', '45'])}?`] }),
    () => ({ said: [`We waited for ${spoken} minutes.`] }),
    () => ({ said: [`It was in ${1950 + count}.`] }),
    () => ({ said: [`There were ${count},${digitsOf(random, 3)} people.`] }),
  ])();
}
