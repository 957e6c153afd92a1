/** Words the issues that zod finds for people. */
import type { z } from 'zod';

type Issue = z.core.$ZodRawIssue;

/** The types of a schema, for people. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};
const UNITS: Readonly<Record<string, string>> = { string: 'characters', array: 'items', set: 'items', map: 'items' };
const FORMATS: Readonly<Record<string, string>> = { url: 'a URL' };

/** The beginning of the message about unknown fields. */
export const UNKNOWN_FIELD = 'no such field: ';

/**
 * Options for `safeParse`. Each issue then says what was expected, such as "expected text of at least 1 character", or
 * which fields are unknown. The caller adds the value that was found. Messages that a schema defines itself stay.
 */
export const IN_PLAIN_WORDS = { error: explain } as const;

function explain(issue: Issue): string {
  return issue.code === 'unrecognized_keys'
    ? `${UNKNOWN_FIELD}${listOf(issue.keys)}`
    : `expected ${expectation(issue)}`;
}

function expectation(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return `${issue.values.length > 1 ? 'one of ' : ''}${listOf(issue.values)}`;
    case 'too_small':
      return sized(issue.origin, Number(issue.minimum), issue.inclusive === false ? 'more than' : 'at least');
    case 'too_big':
      return sized(issue.origin, Number(issue.maximum), issue.inclusive === false ? 'less than' : 'at most');
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'another form';
    case 'invalid_union':
      return choices(issue.errors);
    default:
      return 'something else';
  }
}

/** A limit as text, such as `text of at least 1 character` or `at most 5`. */
function sized(origin: string, limit: number, bound: string): string {
  const unit = UNITS[origin];
  if (unit === undefined) return `${bound} ${limit}`;
  return `${TYPES[origin] ?? origin} of ${bound} ${limit} ${limit === 1 ? unit.slice(0, -1) : unit}`;
}

/** What the alternatives of a union expect. Issues of fields inside the value are left out. */
function choices(errors: readonly (readonly z.core.$ZodIssue[])[]): string {
  const wanted = errors.flatMap((issues) =>
    issues.filter(({ path }) => path.length === 0).map(({ message }) => message),
  );
  return wanted.length === 0
    ? 'another form'
    : [...new Set(wanted)].map((words) => words.replace(/^expected /, '')).join(' or ');
}

function listOf(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ');
}
