import type { SpokenLanguage } from '../../speak/languages/spoken-language.ts';

/** A phrase and what it stands for. Phrases are folded before they are compared: `fünf` is `funf`. */
export type Phrases<Value> = readonly (readonly [phrases: string, value: Value])[];

/** Number words. Lists of phrases are texts with commas. */
interface NumberWords {
  /** More names of 0 to 99, beside those that are said. */
  readonly smalls: Phrases<number>;
  /** All names of the ordinals from 1 to 99. */
  readonly ordinals: Phrases<number>;
  readonly hundred: string;
  /** Hundreds with a word of their own. */
  readonly hundreds: Phrases<number>;
  readonly scales: Phrases<number>;
  /** Between the parts of one number. */
  readonly and: string;
  /** Stand for one before a hundred or a scale. */
  readonly articles: string;
  /** Whether the parts of a number are written as one word. */
  readonly compounds: boolean;
  /** Behind figures that are meant as an ordinal. */
  readonly ordinalEndings: string;
  /** Words that are digits only among digits: "oh", "for". */
  readonly amongDigits: Phrases<number>;
  /** Words that repeat the digit behind them. */
  readonly repeats: Phrases<number>;
  /** Of figures; the other one of stop and comma stands between thousands. */
  readonly decimalMark: '.' | ',';
  readonly point: string;
  readonly minus: string;
  readonly plus: string;
  /** Quantities with a name, as whole answers: "half", "a dozen", "none". */
  readonly quantities: Phrases<number>;
  /** Behind a number: "and a half". */
  readonly andHalf: string;
  /** Behind it stands the number of an extension. */
  readonly extension: string;
}

interface AnswerWords {
  readonly yes: string;
  readonly no: string;
  readonly unsure: string;
  /** Answers that other words may follow: "yes, I do want that". */
  readonly plain: string;
  readonly please: string;
  /** Ask for time, and say nothing else: "one moment". */
  readonly waiting: string;
  /** Make the contrary of a word of agreement: "not really". */
  readonly not: string;
  /** What comes behind replaces what was said before. */
  readonly corrections: string;
  /** Say nothing by themselves. */
  readonly fillers: string;
  readonly noneOfThese: string;
  readonly but: string;
  /** Before the number of a choice: "option". */
  readonly option: string;
  /** Behind the ordinal of a choice: "one" in "the first one". */
  readonly theOne: string;
  readonly last: string;
}

interface DateWords {
  readonly months: readonly string[];
  readonly weekdays: readonly string[];
  /** Days from today. */
  readonly days: Phrases<number>;
  /** "in": before a length of time. */
  readonly ahead: string;
  /** Behind or before it: "from", "from now". */
  readonly from: string;
  readonly next: string;
  readonly this: string;
  readonly units: Phrases<'day' | 'week' | 'month' | 'year'>;
  readonly a: string;
  /** Between a day and its month: where no month is known behind it, it was misheard. */
  readonly of: string;
  /** May stand between the parts of a date. */
  readonly links: string;
  /** Whether the day comes first in `12/05`; regions can differ. */
  readonly dayFirst: boolean;
  /** Regions where it is the other way. */
  readonly otherOrder: readonly string[];
}

interface TimeWords {
  /** Before a time. */
  readonly at: string;
  readonly noon: string;
  readonly midnight: string;
  readonly morning: string;
  readonly night: string;
  readonly afternoon: string;
  readonly evening: string;
  /** Behind the hour: "o'clock", "Uhr". */
  readonly hour: string;
  readonly minutes: string;
  readonly half: string;
  /** Whether "half nine" is 08:30, as in German. */
  readonly halfBefore: boolean;
  readonly quarter: string;
  readonly threeQuarters: string;
  readonly past: string;
  readonly to: string;
  /** Behind the hour: minutes before it. */
  readonly less: string;
  readonly now: string;
  readonly ahead: string;
  readonly units: Phrases<number>;
  readonly zero: string;
  /** Whether "nine and ten" is 09:10. */
  readonly andMinutes: boolean;
}

/** The words by which the parsers know what is said in a language. */
export interface LanguageWords {
  readonly spoken: SpokenLanguage;
  readonly numbers: NumberWords;
  readonly answers: AnswerWords;
  readonly dates: DateWords;
  readonly times: TimeWords;
  readonly money: {
    readonly currencies: Phrases<string>;
    readonly parts: string;
    /** Currencies by region; `*` is that of the others. */
    readonly regions: Readonly<Record<string, string>>;
  };
  /** Endings that make another form of the same word, the longest first. */
  readonly endings: readonly string[];
  /** Spellings that sound alike, in order: what is replaced by what. */
  readonly sounds: readonly (readonly [RegExp, string])[];
}
