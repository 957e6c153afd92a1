/** The common kinds of settings: how a text from the environment is checked and read. */
import { z } from 'zod';
import { isAddressRange } from '../addresses.ts';

/** How a setting is written in trunkline.yaml. Lists may also be one text with commas. */
export type FileForm =
  | {
      readonly kind: 'number';
      readonly minimum: number;
      readonly maximum: number;
      readonly isWhole: boolean;
      /** What it may be besides, such as `off`. */
      readonly word?: string;
    }
  | { readonly kind: 'flag' }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'list'; readonly words?: readonly string[]; readonly hasNumbers?: true }
  /** A list of mappings, or a text. */
  | { readonly kind: 'records' };

/** One setting: how its text is read, and what people read about it. */
export interface SettingSpec<T> {
  readonly schema: z.ZodType<T>;
  /** As it would be written in the environment. */
  readonly defaultText: string;
  readonly unit: string;
  /** The numbers that it takes. */
  readonly range?: string;
  readonly meaning: string;
  /** Never printed. */
  readonly secret?: true;
  /** Left out = a text, or a list of texts where the value is a list. */
  readonly inFile?: FileForm;
}

const INTEGER = /^-?\d+$/;
const DECIMAL = /^-?\d+(\.\d+)?$/;

/** A whole number within bounds. */
export function whole(
  defaultValue: number,
  minimum: number,
  maximum: number,
  unit: string,
  meaning: string,
): SettingSpec<number> {
  const range = `${minimum} to ${maximum}`;
  const schema = z
    .string()
    .refine(
      (text) => INTEGER.test(text) && Number(text) >= minimum && Number(text) <= maximum,
      `a whole number from ${range}`,
    )
    .transform(Number);
  const inFile: FileForm = { kind: 'number', minimum, maximum, isWhole: true };
  return { schema, defaultText: String(defaultValue), unit, range, meaning, inFile };
}

/** Whole numbers within bounds, each once and at least one, in the order in which they come. */
export function wholeList(
  defaultText: string,
  minimum: number,
  maximum: number,
  unit: string,
  meaning: string,
): SettingSpec<readonly number[]> {
  const isNumber = (text: string): boolean => INTEGER.test(text) && Number(text) >= minimum && Number(text) <= maximum;
  const schema = z
    .string()
    .transform(splitList)
    .refine(
      (list) => list.length > 0 && list.every(isNumber) && new Set(list.map(Number)).size === list.length,
      `whole numbers from ${minimum} to ${maximum}, each once, such as ${minimum},${minimum + 1}`,
    )
    .transform((list) => list.map(Number));
  const inFile: FileForm = { kind: 'list', hasNumbers: true };
  return { schema, defaultText, unit, range: `${minimum} to ${maximum}`, meaning, inFile };
}

const CPU_MAX = 1023;
const CPU_RANGE = /^(\d{1,4})(?:-(\d{1,4}))?$/;

/** Processors by index, as taskset(1) and systemd take them: numbers and ranges such as 2-7,9. Empty = none. */
export function cpuList(meaning: string): SettingSpec<readonly number[]> {
  const schema = z.string().transform((value, context) => {
    const cpus = splitList(value).map(readCpuRange);
    if (cpus.every((range) => range !== null)) return [...new Set(cpus.flat())].sort((a, b) => a - b);
    context.addIssue({ code: 'custom', message: `processors from 0 to ${CPU_MAX}, such as 2-7,9` });
    return z.NEVER;
  });
  return {
    schema,
    defaultText: '',
    unit: 'indexes and ranges, comma-separated',
    range: `0 to ${CPU_MAX}`,
    meaning,
    inFile: { kind: 'list', hasNumbers: true },
  };
}

function readCpuRange(item: string): number[] | null {
  const [, from, to = from] = CPU_RANGE.exec(item) ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (!(first <= last && last <= CPU_MAX)) return null;
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

const SHARE = { kind: 'number', minimum: 0, maximum: 1, isWhole: false } as const satisfies FileForm;

/** A number from 0 to 1. */
export function share(defaultValue: number, meaning: string): SettingSpec<number> {
  const schema = z
    .string()
    .refine((text) => DECIMAL.test(text) && Number(text) >= 0 && Number(text) <= 1, 'a number from 0 to 1')
    .transform(Number);
  return { schema, defaultText: String(defaultValue), unit: '0–1', meaning, inFile: SHARE };
}

/** A number from 0 to 1 that something has to be above; `off`, the default, is 1, which nothing is above. */
export function shareOrOff(meaning: string): SettingSpec<number> {
  const schema = z
    .string()
    .refine(
      (text) => text === 'off' || (DECIMAL.test(text) && Number(text) >= 0 && Number(text) <= 1),
      'off or a number from 0 to 1',
    )
    .transform((text) => (text === 'off' ? 1 : Number(text)));
  return { schema, defaultText: 'off', unit: '0–1, off', meaning, inFile: { ...SHARE, word: 'off' } };
}

/** `true` or `false`. */
export function flag(defaultValue: boolean, meaning: string): SettingSpec<boolean> {
  const schema = z
    .string()
    .refine((text) => text === 'true' || text === 'false', 'true or false')
    .transform((text) => text === 'true');
  return { schema, defaultText: String(defaultValue), unit: 'true, false', meaning, inFile: { kind: 'flag' } };
}

/** One of a few words. */
export function choice<const T extends string>(
  defaultValue: T,
  options: readonly T[],
  meaning: string,
): SettingSpec<T> {
  const expected = `one of ${options.join(', ')}`;
  const schema = z
    .string()
    .refine((text) => (options as readonly string[]).includes(text), expected)
    .transform((text) => text as T);
  const inFile: FileForm = { kind: 'words', words: options };
  return { schema, defaultText: defaultValue, unit: options.join(', '), meaning, inFile };
}

/** Some of a few words, each once and at least one, in the order in which they come. */
export function choices<const T extends string>(
  defaultValues: readonly T[],
  options: readonly T[],
  meaning: string,
): SettingSpec<readonly T[]> {
  const schema = z
    .string()
    .transform(splitList)
    .refine(
      (list) =>
        list.length > 0 &&
        list.every((item) => (options as readonly string[]).includes(item)) &&
        new Set(list).size === list.length,
      `some of ${options.join(', ')}, each once, such as ${defaultValues.join(',')}`,
    )
    .transform((list) => list as T[]);
  return {
    schema,
    defaultText: defaultValues.join(','),
    unit: `some of ${options.join(', ')}`,
    meaning,
    inFile: { kind: 'list', words: options },
  };
}

/** Any text. */
export function text(defaultValue: string, unit: string, meaning: string): SettingSpec<string> {
  return { schema: z.string(), defaultText: defaultValue, unit, meaning };
}

/** A text that is never printed. */
export function secret(unit: string, meaning: string): SettingSpec<string> {
  return { ...text('', unit, meaning), secret: true };
}

/** The items of a list with commas, without spaces around them. */
export function splitList(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Addresses that are let in without a secret; by default this machine. */
export function peers(meaning: string, defaultText = '127.0.0.0/8,::1'): SettingSpec<readonly string[]> {
  return {
    schema: z
      .string()
      .transform(splitList)
      .refine((list) => list.every(isAddressRange), 'addresses and networks such as 192.0.2.7,198.51.100.0/24'),
    defaultText,
    unit: 'addresses and networks, comma-separated',
    meaning,
  };
}

/** The settings of one topic, the everyday ones apart from those for special needs. */
export interface SettingGroup {
  readonly title: string;
  /** What the group is called in trunkline.yaml. */
  readonly part: string;
  /** Beginnings of names that trunkline.yaml leaves out, since they say the part again. */
  readonly prefixes?: readonly string[];
  readonly everyday: Readonly<Record<string, SettingSpec<unknown>>>;
  readonly further: Readonly<Record<string, SettingSpec<unknown>>>;
}
