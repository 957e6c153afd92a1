/** A day of the calendar. */
export interface SpokenDate {
  readonly year: number;
  /** 1 = January. */
  readonly month: number;
  readonly day: number;
  /** 0 = Sunday. */
  readonly weekday: number;
}

/** A currency in words: its unit and the hundredth of it, for one and for many. */
export type CurrencyWords = Readonly<
  Record<string, readonly [one: string, many: string, part?: string, parts?: string]>
>;

/** How a language says values. Everything is words, so that each voice says the same. */
export interface SpokenLanguage {
  /** ISO 639-1. */
  readonly code: string;
  /** Zero to nine, one by one. */
  readonly digits: readonly string[];
  /** A whole number from 0 to 999,999,999,999. */
  cardinal(value: number): string;
  /** The number before `noun`: "ein Euro", "veintiún euros", "une livre". */
  counted(value: number, noun: string): string;
  /** With the year, or with the weekday and without it. */
  date(date: SpokenDate, withYear: boolean): string;
  /** Always such that `understand` knows the half of the day. */
  time(hour: number, minute: number): string;
  readonly currencies: CurrencyWords;
  /** Between units and hundredths: "twelve euros and fifty cents". */
  readonly partsAnd: string;
  readonly minus: string;
  /** Before decimals. */
  readonly point: string;
  /** Of a telephone number. */
  readonly plus: string;
  readonly yes: string;
  readonly no: string;
  /** Signs that are spelled by name. */
  readonly signs: Readonly<Record<string, string>>;
}
