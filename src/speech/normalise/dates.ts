/** Dates. In ambiguous numbers the month comes first, because the voices are American. */
import { ordinal, yearWords } from './words.ts';

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const MONTH =
  '(Jan(?:uary|\\.)?|Feb(?:ruary|\\.)?|Mar(?:ch|\\.)?|Apr(?:il|\\.)?|May|June?\\.?|July?\\.?|Aug(?:ust|\\.)?|Sep(?:t(?:ember|\\.)?|\\.)?|Oct(?:ober|\\.)?|Nov(?:ember|\\.)?|Dec(?:ember|\\.)?)';
const DAY = String.raw`(\d{1,2})(?:st|nd|rd|th)?`;
/** Nothing that would make the number part of something else follows. */
const ENDS = String.raw`(?![\w:/%$€£]|[.,-]\d)`;

const ISO = /(?<![\w/.-])(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:T(?=\d\d:)|(?![\w/-]|\.\d))/g;
const NUMERIC = /(?<![\w/.-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|(?<=\/)\d{2})(?![\w/-]|\.\d)/g;
const DAY_AND_MONTH = /(?<![\w/.-])(0\d|1[0-2])\/(0\d|[12]\d|3[01])(?![\w/-]|\.\d)/g;
const MONTH_FIRST = new RegExp(String.raw`(?<!\w)${MONTH} ${DAY}(?:-(\d{1,2}))?(?:,? (\d{4}))?${ENDS}`, 'g');
const DAY_FIRST = new RegExp(
  String.raw`(?<![\w/.,:$€£-])(the )?${DAY} (of )?${MONTH}(?!\w)(?:,? (\d{4})${ENDS})?`,
  'g',
);
const MONTH_AND_YEAR = new RegExp(String.raw`(?<!\w)${MONTH},? ([12]\d{3})${ENDS}`, 'g');

/** `12/05/2024` → `December fifth, twenty twenty four`; other numbers stay. */
export function sayDates(text: string): string {
  return text
    .replace(ISO, (match, year: string, _, month: string, day: string) => {
      const said = sayDate(Number(month), Number(day), year);
      return said === null ? match : `${said}${match.endsWith('T') ? ', ' : ''}`;
    })
    .replace(NUMERIC, (match, first: string, mark: string, second: string, year: string) => {
      const dayFirst = mark === '.' || Number(first) > MONTHS.length;
      const [month, day] = dayFirst ? [second, first] : [first, second];
      return sayDate(Number(month), Number(day), year.length === 2 ? `20${year}` : year) ?? match;
    })
    .replace(
      DAY_AND_MONTH,
      (match, month: string, day: string) => sayDate(Number(month), Number(day), undefined) ?? match,
    )
    .replace(
      DAY_FIRST,
      (match, the: string | undefined, day: string, of: string | undefined, month: string, year?: string) => {
        const said = sayDate(monthOf(month), Number(day), year, the !== undefined || of !== undefined);
        return said === null ? match : `${the ?? ''}${said}`;
      },
    )
    .replace(MONTH_FIRST, (match, month: string, day: string, lastDay: string | undefined, year?: string) => {
      const said = sayDate(monthOf(month), Number(day), undefined);
      if (said === null) return match;
      return `${said}${lastDay === undefined ? '' : ` to ${ordinal(Number(lastDay))}`}${sayYear(year)}`;
    })
    .replace(
      MONTH_AND_YEAR,
      (_, month: string, year: string) => `${MONTHS[monthOf(month) - 1]} ${yearWords(Number(year))}`,
    );
}

/** The number of a month by its first three letters: 1 = January. */
function monthOf(name: string): number {
  return MONTHS.findIndex((month) => month.startsWith(name.slice(0, 3))) + 1;
}

function sayDate(month: number, day: number, year: string | undefined, isDayFirst = false): string | null {
  const name = MONTHS[month - 1];
  if (name === undefined || day < 1 || day > 31) return null;
  return `${isDayFirst ? `${ordinal(day)} of ${name}` : `${name} ${ordinal(day)}`}${sayYear(year)}`;
}

function sayYear(year: string | undefined): string {
  return year === undefined ? '' : `, ${yearWords(Number(year))}`;
}
