import type { FlowValue } from '../file/conditions.ts';

/** What can be asked for. */
export const ANSWER_KINDS = ['digits', 'text', 'number', 'date', 'time', 'yesNo', 'phone', 'amount', 'choice'] as const;

/** What was asked, for the parsers of what was answered. */
export interface Question {
  readonly kind: (typeof ANSWER_KINDS)[number];
  /** Of the caller, such as `en-US`; its region decides what comes first in `12/05`. */
  readonly language: string;
  /**
   * Fewest digits of `digits` and `phone`, the least `number` or `amount`, fewest characters of `text`, the first
   * `date` in days from today.
   */
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  /** Of the kind `choice`: the phrases of each, by name. */
  readonly choices?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Of amounts without one, such as EUR; that of the language's region unless given. */
  readonly currency?: string | undefined;
  readonly now: Date;
  /** Of the caller (IANA), for "tomorrow"; UTC unless given. */
  readonly timeZone?: string | undefined;
}

/** What an answer means. */
export interface Understood {
  /** A date is `2026-11-23`, a time `14:30`, an amount `EUR 12.50`, a choice its name; digits and phones are texts. */
  readonly value: FlowValue;
}
