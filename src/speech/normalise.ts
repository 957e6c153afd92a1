/**
 * Text as it is written → words as they are said, for English voices. Rules go from what is marked most clearly (an
 * address, an amount) to what is left over (a bare number), for each of them takes digits and signs away from the ones
 * behind it.
 */
import { sayAddresses } from './normalise/addresses.ts';
import { sayCodes, sayLongNumbers } from './normalise/codes.ts';
import { sayDates } from './normalise/dates.ts';
import { dropEmoji, dropMarkup, plainTypography } from './normalise/markup.ts';
import { sayMoney } from './normalise/money.ts';
import { sayNumerals } from './normalise/numerals.ts';
import { sayQuantities } from './normalise/quantities.ts';
import { expandAbbreviations, spellInitialisms } from './normalise/shortenings.ts';
import { sayNumberSigns, saySigns, tidy } from './normalise/symbols.ts';
import { sayTimes } from './normalise/times.ts';

/** Part of the key of cached prompts: another version may say the same text in other words. */
export const NORMALISER_VERSION = 'en-1';

const RULES: readonly ((text: string) => string)[] = [
  dropMarkup,
  sayAddresses,
  dropEmoji,
  plainTypography,
  expandAbbreviations,
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

/** The words to be said for `text`; plain words stay as they are. What nobody says aloud (Markdown, emoji) goes. */
export function normaliseText(text: string): string {
  return RULES.reduce((said, rule) => rule(said), text);
}
