/** Something private that was found in texts that follow one another. */

/** Kinds that are found without a pattern of the operator. */
export type PrivateKind = 'card' | 'account' | 'phone' | 'email' | 'iban' | 'ssn' | 'birth' | 'code' | 'number';

/** What stands in place of what is masked. */
export const LABELS: Readonly<Record<PrivateKind, string>> = {
  card: 'card number',
  account: 'account number',
  phone: 'phone number',
  email: 'e-mail address',
  iban: 'IBAN',
  ssn: 'social security number',
  birth: 'date of birth',
  code: 'security code',
  number: 'number',
};

/** Characters of one of the texts. */
export interface Span {
  /** Which of the texts, from 0. */
  readonly piece: number;
  readonly from: number;
  readonly to: number;
}

/** One find, with its part in each text that has some of it. */
export interface Finding {
  /** What it is, as the mask says it. */
  readonly label: string;
  readonly spans: readonly Span[];
}

/** `text` with `[label]` in place of each span, which must not overlap. */
export function maskText(text: string, masks: readonly { from: number; to: number; label: string }[]): string {
  let masked = '';
  let at = 0;
  for (const { from, to, label } of masks.toSorted((a, b) => a.from - b.from)) {
    masked += `${text.slice(at, from)}[${label}]`;
    at = to;
  }
  return masked + text.slice(at);
}
