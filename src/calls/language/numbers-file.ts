/** NUMBERS_FILE: what is known of the numbers that are called, such as the language that is spoken there. */
import { z } from 'zod';
import { HOT_WORD_MAX_CHARS, HOT_WORDS_MAX } from '../../../engine/contract.ts';
import { parseYaml, type Refuse } from '../../foundation/yaml-text.ts';
import { isLanguage } from './spoken-language.ts';

/** A file with as many numbers as there may be, each with all its hot words, has room. */
export const NUMBERS_FILE_MAX_BYTES = 4_194_304;
const NUMBERS_MAX = 2000;
const NUMBER_MAX_CHARS = 128;

/** A number as files name it. */
export const writtenNumberSchema = z
  .string({ error: 'expected a number in quotes, such as "+4930123456" or "+4930*"' })
  .trim()
  .min(1)
  .max(NUMBER_MAX_CHARS);

const entrySchema = z.strictObject({
  number: writtenNumberSchema,
  language: z.string().refine(isLanguage, 'expected a language such as de, pt-BR or auto').optional(),
  hotWords: z.array(z.string().trim().min(1).max(HOT_WORD_MAX_CHARS)).max(HOT_WORDS_MAX).default([]),
});
const fileSchema = z.strictObject({ numbers: z.array(entrySchema).max(NUMBERS_MAX) });

/** A number, or all numbers that begin alike. */
export interface NumberPattern {
  /** As {@link calledNumber} writes it; of a pattern its beginning. */
  readonly number: string;
  readonly isPattern: boolean;
}

/** What is known of a number, or of all numbers that begin alike. */
export interface NumberEntry extends NumberPattern {
  /** A code, an English name, or `auto`; null = nothing is said of it. */
  readonly language: string | null;
  readonly hotWords: readonly string[];
}

/**
 * Reads `{numbers: [{number, language?, hotWords?}]}`; `path` is for messages. A number that ends with `*` stands for
 * all that begin with what is before it.
 * @throws FileError for the first thing that is wrong
 */
export function parseNumbers(text: string, path: string): NumberEntry[] {
  let entries: NumberEntry[] = [];
  parseYaml(text, path, fileSchema, ({ numbers }, refuse) => {
    entries = numbers.map((entry) => toEntry(entry));
    refuseTwins(entries, refuse);
  });
  return entries;
}

function toEntry({ number, language, hotWords }: z.infer<typeof entrySchema>): NumberEntry {
  return { ...numberPattern(number), language: language ?? null, hotWords };
}

/** What a file means by a number; one that ends with `*` stands for all that begin with what is before it. */
export function numberPattern(written: string): NumberPattern {
  const isPattern = written.endsWith('*');
  return { number: calledNumber(isPattern ? written.slice(0, -1) : written), isPattern };
}

/** Refuses a number of the list `numbers` that stands there twice. */
export function refuseTwins(entries: readonly NumberPattern[], refuse: Refuse): void {
  const seen = new Set<string>();
  entries.forEach(({ number, isPattern }, at) => {
    const key = `${number}${isPattern ? '*' : ''}`;
    if (seen.has(key)) refuse(['numbers', at, 'number'], 'stands above already');
    seen.add(key);
  });
}

/** A phone number: figures, with what people write between them. */
const PHONE = /^\+?[\d\s()./-]+$/;

/**
 * A number as numbers are compared: figures alone, without the `+` that some carriers leave out; of a SIP address the
 * user; any other name in lower case.
 */
export function calledNumber(told: string): string {
  const user = told
    .trim()
    .replace(/^(?:sips?|tel|whatsapp|client):/i, '')
    .replace(/[@;].*/s, '');
  return PHONE.test(user) ? user.replace(/\D/g, '') : user.toLowerCase();
}

/** Finds what is known of a number: the number itself goes before patterns, a longer pattern before a shorter one. */
export class NumberBook<Entry extends NumberPattern> {
  readonly #exact = new Map<string, Entry>();
  readonly #patterns: readonly Entry[];

  constructor(entries: readonly Entry[]) {
    for (const entry of entries) if (!entry.isPattern) this.#exact.set(entry.number, entry);
    this.#patterns = entries.filter(({ isPattern }) => isPattern).toSorted((a, b) => b.number.length - a.number.length);
  }

  /** @param told the called number or address, as the carrier told it; null = it did not */
  find(told: string | null): Entry | null {
    if (told === null) return null;
    const number = calledNumber(told);
    return this.#exact.get(number) ?? this.#patterns.find((entry) => number.startsWith(entry.number)) ?? null;
  }
}
