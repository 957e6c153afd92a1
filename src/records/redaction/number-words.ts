/** English words that are said for digits, and words that stand among them. */

/** Words for one digit. */
export const UNIT_WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    zero: '0',
    nought: '0',
    naught: '0',
    one: '1',
    two: '2',
    three: '3',
    four: '4',
    five: '5',
    six: '6',
    seven: '7',
    eight: '8',
    nine: '9',
    niner: '9',
  }),
);

/** They are a nought only beside other digits. */
export const WEAK_ZEROS: ReadonlySet<string> = new Set(['oh', 'o']);

/** Words for two digits. */
export const TEEN_WORDS: ReadonlyMap<string, string> = new Map(
  'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'
    .split(' ')
    .map((word, index) => [word, String(10 + index)]),
);

/** Words for tens, each with its first digit: a unit may follow. */
export const TENS_WORDS: ReadonlyMap<string, string> = new Map(
  'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ').map((word, index) => [word, String(2 + index)]),
);

/** How often the digit behind them counts. */
export const REPEAT_WORDS: ReadonlyMap<string, number> = new Map([
  ['double', 2],
  ['triple', 3],
  ['treble', 3],
  ['quadruple', 4],
]);

/** Noughts that a number word before them gets. */
export const POWER_WORDS: ReadonlyMap<string, string> = new Map([
  ['hundred', '00'],
  ['thousand', '000'],
]);

/** Words that people put between the digits of one number. */
export const FILLERS: ReadonlySet<string> = new Set(
  (
    'um uh er erm ah hmm mm and then so okay ok yes yeah yep right dash hyphen minus space slash point dot comma ' +
    'stroke colon again next now its thats is followed by parenthesis bracket'
  ).split(' '),
);

/** Words that are said for a sign that divides groups of digits. */
export const DIVIDERS: ReadonlySet<string> = new Set('dash hyphen minus space slash stroke'.split(' '));

/** Before "one" they make a pronoun of it: "this one". */
export const BEFORE_PRONOUN: ReadonlySet<string> = new Set(
  'this that the which no another each every only any some other new old right wrong last'.split(' '),
);

/** What is counted or measured behind a number: it is a quantity, and ends a dictated number. */
export const UNITS_OF_MEASURE: ReadonlySet<string> = new Set(
  (
    'moment moments sec secs min mins dollar dollars euro euros cent cents buck bucks pence quid percent degrees ' +
    'minute minutes second seconds hour ' +
    'hours day days week weeks month months year years oclock am pm people persons callers times items pieces ' +
    'kilometers kilometres miles meters metres feet inches kilos kilograms pounds grams letters characters digits'
  ).split(' '),
);

/** Months by name and by their usual abbreviations. */
export const MONTHS: ReadonlySet<string> = new Set(
  (
    'january february march april may june july august september october november december ' +
    'jan feb mar apr jun jul aug sep sept oct nov dec'
  ).split(' '),
);

/** Days of a month as people say them; figures have `st`, `nd`, `rd` or `th` behind them. */
export const ORDINALS: ReadonlySet<string> = new Set(
  (
    'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth ' +
    'fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth st nd rd th'
  ).split(' '),
);

/** Names of the letters in the alphabets of radio operators (ICAO), for what is spelt. */
export const SPELLING_WORDS: ReadonlyMap<string, string> = new Map(
  (
    'alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo ' +
    'sierra tango uniform victor whiskey xray yankee zulu alfa juliett'
  )
    .split(' ')
    .map((word) => [word, word.charAt(0)]),
);
