/** Writes out abbreviations, and spells initialisms. */
import { SENTENCE_STARTERS } from '../abbreviations.ts';
import { spellLetters } from './words.ts';

/** Abbreviations with a full stop, whatever follows. */
const FULL: Readonly<Record<string, string>> = Object.freeze({
  Mr: 'Mister',
  Mrs: 'Missus',
  Ms: 'Miz',
  Prof: 'Professor',
  Gen: 'General',
  Col: 'Colonel',
  Capt: 'Captain',
  Lt: 'Lieutenant',
  Sgt: 'Sergeant',
  Rev: 'Reverend',
  Gov: 'Governor',
  Sen: 'Senator',
  Maj: 'Major',
  Adm: 'Admiral',
  Hon: 'Honorable',
  Mt: 'Mount',
  Ft: 'Fort',
  Jr: 'Junior',
  Sr: 'Senior',
  Inc: 'Incorporated',
  Ltd: 'Limited',
  Corp: 'Corporation',
  Co: 'Company',
  Bros: 'Brothers',
  Dept: 'Department',
  dept: 'department',
  Univ: 'University',
  Ave: 'Avenue',
  Blvd: 'Boulevard',
  Rd: 'Road',
  Ln: 'Lane',
  Apt: 'Apartment',
  Ste: 'Suite',
  apt: 'apartment',
  etc: 'et cetera',
  vs: 'versus',
  approx: 'approximately',
  Approx: 'Approximately',
  incl: 'including',
  excl: 'excluding',
  est: 'estimated',
  acct: 'account',
  Acct: 'Account',
  amt: 'amount',
  qty: 'quantity',
  max: 'maximum',
  Max: 'Maximum',
  avg: 'average',
  tel: 'telephone',
  Tel: 'Telephone',
  Mon: 'Monday',
  Tue: 'Tuesday',
  Tues: 'Tuesday',
  Wed: 'Wednesday',
  Thu: 'Thursday',
  Thur: 'Thursday',
  Thurs: 'Thursday',
  Fri: 'Friday',
});

const FULL_STOPPED = new RegExp(String.raw`(?<![\w.])(${Object.keys(FULL).join('|')})\.(?!\w)`, 'g');
const DAYS: Readonly<Record<string, string>> = Object.freeze({
  Mon: 'Monday',
  Tue: 'Tuesday',
  Wed: 'Wednesday',
  Thu: 'Thursday',
  Fri: 'Friday',
  Sat: 'Saturday',
  Sun: 'Sunday',
});
const DAY = `(${Object.keys(DAYS).join('|')})`;
const RANGE_OF_DAYS = new RegExp(String.raw`(?<!\w)${DAY}\.? ?- ?${DAY}(?!\w)`, 'g');
const TITLE_WITHOUT_STOP = /(?<!\w)(Mr|Mrs|Ms|Dr)(?= [A-Z][a-z])/g;
const DOCTOR_OR_DRIVE = /(?<![\w.])(Dr|St)\.(?!\w)(?=( [A-Z][a-z'-]{0,30})?)/g;
/** Abbreviations with a stop inside or a number after them, Latin ones and others. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/(?<!\w)e\.g\.,?/gi, 'for example,'],
  [/(?<!\w)i\.e\.,?/gi, 'that is,'],
  [/(?<!\w)(?:ext\.? ?|(?<=\d )x)(?=\d{1,6}(?!\w))/gi, 'extension '],
  [/(?<!\w)[Nn]os?\. ?(?=\d)/g, 'number '],
  [/(?<!\w)[Mm]in\. (?=[a-z])/g, 'minimum '],
  [/(?<!\w)pp?\. ?(?=\d)/g, 'page '],
  [/(?<!\w)(?:fig|Fig)\. ?(?=\d)/g, 'figure '],
  [/(?<!\w)(?:vol|Vol)\. ?(?=\d)/g, 'volume '],
  [/(?<!\w)et al\./g, 'et al'],
  [/(?<!\w)w\/o(?!\w)/g, 'without'],
  [/(?<!\w)w\/ ?(?=[a-z])/g, 'with '],
  [/(?<!\w)b\/c(?!\w)/g, 'because'],
  [/(?<!\w)and\/or(?!\w)/g, 'and or'],
  [/(?<!\w)(he|his|him)\/(she|hers?)(?!\w)/gi, '$1 or $2'],
  [/(?<!\w)Ph\.D\.?(?!\w)/g, 'P H D'],
  [/(?<!\w)(?:OK|ok)(?!\w)/g, 'okay'],
  [/(?<!\w)Wi-?Fi(?!\w)/g, 'wifi'],
  [/(?<!\w)iOS(?!\w)/g, 'i O S'],
];

const DOTTED_INITIALS = /(?<![\w.])((?:[A-Z]\.){2,6})(?!\w)/g;
const INITIAL_OF_NAME = /(?<![\w.'])([A-Z])\. (?=([A-Z][a-z']{1,30}))/g;
const CAPITALS = /(?<![\w'’])([A-Z]{2,6})(s?)(?![\w’]|'[a-z])/g;

/** Capitals that are read as words: acronyms, and emphasised words. */
const READ_AS_WORDS: ReadonlySet<string> = new Set(
  (
    'NO GO DO UP ON OR IF IN IS WE ME MY BY AT AS SO TO OF HE BE AN OH HI ' +
    'THE AND NOT YOU ARE NOW ALL CAN GET NEW YES OUR OUT HOW WHO WHY ANY HAS HAD WAS BUT FOR SEE USE WIN BUY ' +
    'OFF ONE TWO SIX TEN DAY MAY ' +
    'ASK SAY LET PUT TRY END ADD SET TOP BIG HIS HER HIM ITS FAR OLD OWN TOO FEW WAY RUN PAY CAR BAD FUN HOT ' +
    'PIN SIM ZIP RAM ROM LAN WAN GIF VAT MAC SAM ' +
    'NASA NATO OPEC UNICEF COVID AIDS ASAP SWIFT'
  ).split(' '),
);
/** Longer ones that are spelt although they look like words. */
const SPELT: ReadonlySet<string> = new Set([
  'IEEE',
  'ISBN',
  'USPS',
  'UCLA',
  'AARP',
  'ESPN',
  'ISDN',
  'SMTP',
  'IMEI',
  'IMAP',
]);
const SHORT_CHARS = 3;

/** Writes out abbreviations. The stop of one that ends the text stays. */
export function expandAbbreviations(text: string): string {
  const phrased = PHRASES.reduce((said, [pattern, words]) => said.replace(pattern, words), text);
  return phrased
    .replace(FULL_STOPPED, (match, word: string, at: number) => `${FULL[word]}${stopAt(phrased, at + match.length)}`)
    .replace(DOCTOR_OR_DRIVE, sayDoctorOrDrive)
    .replace(RANGE_OF_DAYS, (_, first: string, last: string) => `${DAYS[first]} to ${DAYS[last]}`)
    .replace(TITLE_WITHOUT_STOP, (title) => (title === 'Dr' ? 'Doctor' : (FULL[title] ?? title)));
}

/** `Dr.` and `St.` are Doctor and Saint before a name, Drive and Street after one. */
function sayDoctorOrDrive(match: string, word: string, name: string | undefined, at: number, whole: string): string {
  const isFollowedByName = name !== undefined && !SENTENCE_STARTERS.has(name.trim().toLowerCase());
  const followsName = /(?<![\w'-])[a-z\d_'-]*[A-Z][\w'-]* $|\dth $/.test(whole.slice(Math.max(0, at - 30), at));
  if (isFollowedByName && !followsName) return word === 'Dr' ? 'Doctor' : 'Saint';
  const isNewSentence = name !== undefined && !isFollowedByName;
  return `${word === 'Dr' ? 'Drive' : 'Street'}${isNewSentence ? '.' : stopAt(whole, at + match.length)}`;
}

/** Spells initials and initialisms. */
export function spellInitialisms(text: string): string {
  const isEmphasised = !/[a-z]/.test(text) && text.length > CAPITALS_MAX_CHARS;
  return text
    .replace(DOTTED_INITIALS, (match, initials: string, at: number) => {
      return `${spellLetters(initials.replaceAll('.', ''))}${stopAt(text, at + match.length)}`;
    })
    .replace(INITIAL_OF_NAME, (match, letter: string, name: string) =>
      SENTENCE_STARTERS.has(name.toLowerCase()) ? match : `${letter} `,
    )
    .replace(CAPITALS, (match, capitals: string, plural: string, at: number, whole: string) => {
      // "AT&T"
      const isJoined = whole.charAt(at + match.length) === '&';
      if (!isJoined && !isSpelt(capitals, isEmphasised)) return match;
      return `${spellLetters(capitals)}${plural && "'s"}`;
    });
}

/** A longer text in capitals is emphasised, not spelt. */
const CAPITALS_MAX_CHARS = 12;

function isSpelt(capitals: string, isEmphasised: boolean): boolean {
  if (READ_AS_WORDS.has(capitals)) return false;
  if (SPELT.has(capitals) || !/[AEIOUY]/.test(capitals)) return true;
  return capitals.length <= SHORT_CHARS && !isEmphasised;
}

/** The stop of an abbreviation that also ends the text. */
function stopAt(text: string, end: number): string {
  return /^["')\]]?\s*$/.test(text.slice(end, end + 4)) && text.slice(end).trim().length <= 1 ? '.' : '';
}
