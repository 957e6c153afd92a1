/**
 * Writes out a text in the words that an English voice should say. The rules go from the clearest patterns (addresses,
 * amounts) to the least clear (bare numbers), because each rule removes digits and signs that later rules would match.
 */
import { sayAddresses } from './normalise/addresses.ts';
import { sayCodes, sayLongNumbers } from './normalise/codes.ts';
import { sayDates } from './normalise/dates.ts';
import { dropEmoji, dropMarkup, plainTypography } from './normalise/markup.ts';
import { sayMoney } from './normalise/money.ts';
import { sayNumerals } from './normalise/numerals.ts';
import { sayQuantities } from './normalise/quantities.ts';
import { sayRomanNumerals } from './normalise/roman-numerals.ts';
import { expandAbbreviations, spellInitialisms } from './normalise/shortenings.ts';
import { sayNumberSigns, saySigns, tidy } from './normalise/symbols.ts';
import { sayTimes } from './normalise/times.ts';

/** Part of the key of cached prompts: another version may write out the same text differently. */
export const NORMALISER_VERSION = 'en-3';

const RULES: readonly ((text: string) => string)[] = [
  dropMarkup,
  sayAddresses,
  dropEmoji,
  plainTypography,
  expandAbbreviations,
  sayRomanNumerals,
  sayMoney,
  sayDates,
  sayTimes,
  sayNumberSigns,
  sayLongNumbers,
  sayQuantities,
  sayCodes,
  sayNumerals,
  spellInitialisms,
  saySigns,
  tidy,
];

/** The words to say for `text`. Plain words stay, and marks that nobody says (Markdown, emoji) are removed. */
export function normaliseText(text: string): string {
  return RULES.reduce((said, rule) => rule(said), text);
}
