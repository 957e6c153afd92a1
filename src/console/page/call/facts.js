/** Numbers, addresses and dates in what was said, to be copied. Pure functions. */

/**
 * `words` stand before it and say what it is, such as `order`; empty = nothing does.
 * @typedef {{ kind: 'email' | 'phone' | 'amount' | 'date' | 'time' | 'number', value: string, words: string }} Fact
 */

const MONTH =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|' +
  'nov(?:ember)?|dec(?:ember)?';
const DAY = '(?:mon|tues|wednes|thurs|fri|satur|sun)day';

/** One utterance is shorter. */
const TEXT_MAX_CHARS = 4000;

/** In the order in which they claim their part of a text. @type {readonly [Fact['kind'], RegExp][]} */
const PATTERNS = [
  ['email', /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/giu],
  ['email', /(?<![\w.+-])[\w.+-]{1,64} at [\w-]{1,63}(?: dot [\w-]{1,63}){1,8}\b/giu],
  ['amount', /[$€£]\s?\d[\d,]*(?:\.\d{1,2})?|\b\d[\d,]*(?:\.\d{1,2})? (?:dollars|euros?|pounds|cents)\b/giu],
  ['date', /\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b/gu],
  ['date', new RegExp(`\\b(?:${MONTH})\\.? \\d{1,2}(?:st|nd|rd|th)?(?:,? \\d{4})?\\b`, 'giu')],
  ['date', new RegExp(`\\b\\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:${MONTH})(?:,? \\d{4})?\\b`, 'giu')],
  ['date', new RegExp(`\\b(?:next |this |on )?${DAY}\\b|\\b(?:tomorrow|the day after tomorrow)\\b`, 'giu')],
  ['time', /\b\d{1,2}(?::\d{2})? ?[ap]\.?m\b\.?|\b\d{1,2}:\d{2}\b|\b\d{1,2} o['’]clock\b/giu],
  ['phone', /(?<!\w)\+?\(?\d(?:[\s().-]{0,2}\d){6,14}(?!\w)/gu],
  ['number', /(?<!\w)\d(?:[\s-]?\d){2,5}(?!\w)/gu],
];

const DIGITS = new Map(
  ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'].map((word, digit) => [
    word,
    String(digit),
  ]),
);
DIGITS.set('oh', '0');
const TIMES = new Map([
  ['double', 2],
  ['triple', 3],
]);
/** A run of at least so many digits that were said as words is a number. */
const SPOKEN_DIGITS_MIN = 3;
const SPOKEN_RUN = new RegExp(
  `\\b(?:(?:${[...DIGITS.keys(), ...TIMES.keys()].join('|')})(?:[\\s,.-]+|\\b)){${SPOKEN_DIGITS_MIN},}`,
  'giu',
);

/** The word before a number that may say what it is. */
const BEFORE = /(?<!\p{L})(\p{L}{3,})(?:\s+(?:number|no\.?|is|of|id|code))*[\s:#]*$/iu;
const SAYS_NOTHING = new Set(
  (
    'the and with for are have has had was were that this than then from about you your our his her its all only ' +
    'not but get gets got give pay pays paid put took take need needs want wants wait cost costs charged after ' +
    'before until over under another more back please like nearly'
  ).split(' '),
);

/**
 * The facts in one text, in the order in which they stand there.
 * @param {string} text @returns {Fact[]}
 */
export function factsOf(text) {
  const digits = writeDigits(text.slice(0, TEXT_MAX_CHARS));
  /** @type {{ from: number, to: number, fact: Fact }[]} */
  const found = [];
  for (const [kind, pattern] of PATTERNS) {
    for (const { 0: match, index } of digits.matchAll(pattern)) {
      const to = index + match.length;
      if (found.some((other) => index < other.to && other.from < to)) continue;
      found.push({
        from: index,
        to,
        fact: { kind, value: tidy(kind, match), words: wordsBefore(kind, digits, index) },
      });
    }
  }
  return found.toSorted((a, b) => a.from - b.from).map(({ fact }) => fact);
}

/**
 * Facts of many texts, each value once, in the order in which they came first.
 * @param {Iterable<Fact>} facts @returns {Fact[]}
 */
export function uniqueFacts(facts) {
  /** @type {Map<string, Fact>} */
  const byValue = new Map();
  for (const fact of facts) {
    const key = `${fact.kind} ${fact.value.toLowerCase()}`;
    const known = byValue.get(key);
    if (known === undefined || known.words === '') byValue.set(key, fact);
  }
  return [...byValue.values()];
}

/**
 * Digits that were said as words become digits: `four seven double one` is `4711`.
 * @param {string} text @returns {string}
 */
function writeDigits(text) {
  return text.replace(SPOKEN_RUN, (run) => {
    let times = 1;
    let digits = '';
    for (const [word] of run.toLowerCase().matchAll(/[a-z]+/g)) {
      digits += (DIGITS.get(word) ?? '').repeat(times);
      times = TIMES.get(word) ?? 1;
    }
    const after = /(?<![\s,.-])[\s,.-]+$/.exec(run)?.[0] ?? '';
    return digits.length < SPOKEN_DIGITS_MIN ? run : `${digits}${after}`;
  });
}

/** @param {Fact['kind']} kind @param {string} match */
function tidy(kind, match) {
  if (kind === 'email') return match.replace(/ at /i, '@').replace(/ dot /gi, '.').replace(/\.$/, '').toLowerCase();
  if (kind === 'number') return match.replace(/[\s-]/g, '');
  return match.trim().replace(/^on /i, '');
}

/** @param {Fact['kind']} kind @param {string} text @param {number} at */
function wordsBefore(kind, text, at) {
  if (kind !== 'number' && kind !== 'phone' && kind !== 'amount') return '';
  const word = BEFORE.exec(text.slice(Math.max(0, at - 40), at))?.[1]?.toLowerCase() ?? '';
  return SAYS_NOTHING.has(word) ? '' : word;
}
