/** What a schema of zod finds wrong with a value, in words for who wrote the value. */
import { z } from 'zod';
import { nearestName } from './nearest-name.ts';
import type { YamlPart, YamlPath } from './yaml-document.ts';

/** What is wrong, and where. */
export interface SchemaFinding {
  readonly path: YamlPath;
  readonly part: YamlPart;
  readonly message: string;
}

/** What was read, and by what. */
interface Reading {
  readonly schema: z.ZodType;
  readonly value: unknown;
  /** Whether messages repeat texts that came, and numbers in their place: never of files with secrets. */
  readonly showsTexts: boolean;
}

type Issue = z.core.$ZodIssue;
type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Schemas may say in their own words what they expect. */
const MESSAGE_OF_ZOD = /^(?:Invalid |Too (?:big|small)|Unrecognized key)/;
/** What comes after so many most likely is the same again. */
const FINDINGS_MAX = 100;
/** Longer texts are cut where a message repeats them. */
const SHOWN_CHARS = 40;

/**
 * The issues in words, at most a hundred of them; unknown keys first: what is missing is most often one of them,
 * mistyped.
 */
export function describeIssues(issues: readonly Issue[], reading: Reading): SchemaFinding[] {
  const findings = issues.slice(0, FINDINGS_MAX).flatMap((issue) => describe(issue, [], reading));
  const unknown = findings.filter(({ part }) => part === 'key');
  const incomplete = new Set(unknown.map(({ path }) => path.slice(0, -1).join('.')));
  const others = findings.filter(({ path, part, message }) => {
    const isOfWhole = !message.startsWith('got') && incomplete.has(path.join('.'));
    return part === 'value' && !isOfWhole;
  });
  return [...unknown, ...others];
}

function describe(issue: Issue, around: YamlPath, reading: Reading): SchemaFinding[] {
  const path = [...around, ...issue.path.filter((part) => typeof part !== 'symbol')];
  const finding = (message: string, part: YamlPart = 'value'): SchemaFinding[] => [{ path, part, message }];
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = keysAt(reading.schema, path);
      return issue.keys
        .slice(0, FINDINGS_MAX)
        .map((key) => ({ path: [...path, key], part: 'key', message: unknownKey(key, known) }));
    }
    case 'invalid_key':
      return finding(issue.issues[0]?.message ?? issue.message, 'key');
    case 'invalid_union':
      return describeUnion(issue, path, reading);
    case 'custom':
      return finding(issue.message);
    default:
      return finding(`${cameInPlaceOf(issue, path, reading)}, ${expectation(issue, path, reading)}`);
  }
}

/** What was meant is the option that fits best: the one of that kind, then the one with least that is wrong. */
function describeUnion(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  path: YamlPath,
  reading: Reading,
): SchemaFinding[] {
  const options = issue.errors.filter((errors) => errors.length > 0);
  const isKind = (errors: readonly Issue[]): boolean => !errors.some((error) => isOtherKind(error));
  const fitting = options.filter(isKind).toSorted((one, other) => one.length - other.length)[0];
  if (fitting !== undefined) return fitting.flatMap((error) => describe(error, path, reading));
  const kinds = [...new Set(options.flat().flatMap((error) => kindsOf(error, keysAt(reading.schema, path))))];
  const message = kinds.length === 0 ? issue.message : `${came(path, reading)}, expected ${orList(kinds)}`;
  return [{ path, part: 'value', message }];
}

/** Whether an option of a union was not meant at all: another kind of value came. */
function isOtherKind(issue: Issue): boolean {
  if (issue.path.length > 0) return false;
  if (issue.code === 'invalid_union') return issue.errors.every((errors) => errors.some((error) => isOtherKind(error)));
  return issue.code === 'invalid_type';
}

function kindsOf(issue: Issue, keys: readonly string[]): string[] {
  if (issue.path.length > 0) return [];
  if (issue.code === 'invalid_union') return issue.errors.flat().flatMap((error) => kindsOf(error, keys));
  return issue.code === 'invalid_type' ? [kindName(issue.expected, keys)] : [];
}

/** `expected …`, or what the schema says in its own words. */
function expectation(issue: Issue, path: YamlPath, reading: Reading): string {
  if (!MESSAGE_OF_ZOD.test(issue.message)) return issue.message;
  const value = valueAt(reading.value, path);
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'string' && isNumber(value)) return 'expected a text in quotes';
      return `expected ${kindName(issue.expected, keysAt(reading.schema, path))}`;
    case 'invalid_value': {
      const names = issue.values.map(String);
      const near = typeof value === 'string' ? nearestName(value, names) : null;
      return `${near === null ? '' : `did you mean ${near}? `}expected ${orList(names)}`;
    }
    case 'too_small':
    case 'too_big':
      return `expected ${limitOf(issue)}`;
    default:
      return issue.message;
  }
}

function limitOf(issue: Extract<Issue, { code: 'too_small' | 'too_big' }>): string {
  const limit = issue.code === 'too_small' ? issue.minimum : issue.maximum;
  const bound = issue.code === 'too_small' ? 'at least' : 'at most';
  switch (issue.origin) {
    case 'string':
      return limit === 1 && issue.code === 'too_small' ? 'a text that is not empty' : `${bound} ${limit} characters`;
    case 'array':
      return `${bound} ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
    default:
      return `${bound} ${limit}`;
  }
}

function unknownKey(key: string, known: readonly string[]): string {
  const near = nearestName(key, known);
  const question = near === null ? '' : `did you mean ${near}? `;
  return known.length === 0 ? 'is unknown' : `is unknown, ${question}expected ${orList(known)}`;
}

/** Where a text belongs, a number is what somebody forgot to quote: a PIN, a password, a telephone number. */
function cameInPlaceOf(issue: Issue, path: YamlPath, reading: Reading): string {
  const isOfText = issue.code === 'invalid_type' && issue.expected === 'string';
  if (isOfText && !reading.showsTexts && isNumber(valueAt(reading.value, path))) return 'got a number';
  return came(path, reading);
}

function came(path: YamlPath, { value, showsTexts }: Reading): string {
  const found = valueAt(value, path);
  if (found === undefined) return 'is missing';
  if (typeof found === 'string') return showsTexts ? `got ${quoted(found)}` : 'got a text';
  return `got ${kindOf(found)}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  return isNumber(value) ? `the number ${value}` : String(value);
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function quoted(text: string): string {
  return JSON.stringify(text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text);
}

const KIND_NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  null: 'nothing',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

/** `keys` = those that are known there: not everybody who writes YAML knows what a mapping is. */
function kindName(expected: string, keys: readonly string[]): string {
  const [key] = keys;
  return expected === 'object' && key !== undefined ? `lines such as "${key}: …"` : (KIND_NAMES[expected] ?? expected);
}

/** `a, b or c`. */
function orList(names: readonly string[]): string {
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} or ${last}`;
}

/** The value at `path`; undefined = there is none. */
export function valueAt(value: unknown, path: YamlPath): unknown {
  let found = value;
  for (const part of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined;
    found = (found as Record<string | number, unknown>)[part];
  }
  return found;
}

/** The keys that the schema knows at `path`, in its order. */
export function keysAt(schema: z.ZodType, path: YamlPath): string[] {
  let found = optionsOf(jsonSchemaOf(schema));
  for (const part of path) found = found.flatMap((option) => optionsOf(childOf(option, part)));
  return [...new Set(found.flatMap(({ properties = {} }) => Object.keys(properties)))];
}

function childOf({ properties, additionalProperties, items }: JsonSchema, part: string | number): unknown {
  if (typeof part === 'number') return items;
  return properties !== undefined && Object.hasOwn(properties, part) ? properties[part] : additionalProperties;
}

/** A schema and, in place of a choice of several, each of them. */
function optionsOf(schema: unknown): JsonSchema[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { anyOf } = schema as JsonSchema;
  return anyOf === undefined ? [schema as JsonSchema] : anyOf.flatMap((option) => optionsOf(option));
}

const jsonSchemas = new WeakMap<z.ZodType, unknown>();

function jsonSchemaOf(schema: z.ZodType): unknown {
  const known = jsonSchemas.get(schema);
  if (known !== undefined) return known;
  const made: unknown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  jsonSchemas.set(schema, made);
  return made;
}
