/** What tells private numbers from others: check digits and lengths. */

/** Luhn's formula (ISO/IEC 7812-1, annex B). `digits` = 0–9 alone. */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** How many digits cards of the large networks have, by their first digits. */
const NETWORKS: readonly (readonly [RegExp, readonly number[]])[] = [
  [/^4/, [13, 16, 19]],
  [/^5[1-5]/, [16]],
  [/^(222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  [/^3[47]/, [15]],
  [/^3(0|6|8|9)/, [14, 16, 19]],
  [/^35/, [16, 19]],
  [/^6/, [16, 19, 13, 14, 15, 17, 18]],
  [/^5[06789]/, [16, 19, 13, 14, 15, 17, 18]],
];

/** The lengths that a card number with these first digits may have, the usual one first; none = of no large network. */
export function cardLengths(digits: string): readonly number[] {
  return NETWORKS.find(([prefix]) => prefix.test(digits))?.[1] ?? [];
}

/** A number in the North American plan: area code and exchange begin with 2–9 (ATIS-0300051). */
const NANP = /^1?[2-9]\d{2}[2-9]\d{6}$/;
const NATIONAL_WITH_ZERO = /^0\d{9,10}$/;

/** Whether these digits alone, without a `+` or a word before them, look like a telephone number. */
export function looksLikePhone(digits: string): boolean {
  return NANP.test(digits) || NATIONAL_WITH_ZERO.test(digits);
}

/** Social security numbers that can have been given out (SSA, since 2011). */
export function isSocialSecurityNumber(digits: string): boolean {
  return /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/.test(digits);
}

/** Characters of an IBAN by country (SWIFT IBAN Registry, release 99). */
const IBAN_LENGTHS: Readonly<Record<string, number>> = Object.fromEntries(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ' +
    'ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 ' +
    'LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 ' +
    'PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 ' +
    'YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** How long an IBAN of the country is; 0 = it has none. `country` = two capitals. */
export function ibanLength(country: string): number {
  return IBAN_LENGTHS[country] ?? 0;
}

/** ISO 13616: letters count from 10, the first four characters go last, and the rest of a division by 97 is 1. */
export function passesMod97(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
