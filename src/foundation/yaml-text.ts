/** Reads YAML that operators write, and says where what is wrong stands. */
import type { z } from 'zod';
import { describeIssues } from './schema-findings.ts';
import { YamlDocument, type YamlPath, type YamlProblem } from './yaml-document.ts';

/** A file cannot be used. The message is `path:line:column: what came and what was expected`. */
export class FileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FileError';
  }
}

/** Refuses the value at `at`. @throws FileError always */
export type Refuse = (at: YamlPath, message: string) => never;

/**
 * The value of `text`, as `schema` reads it; `check` refuses what a schema cannot see. `path` is for messages.
 * @throws FileError for the first thing that is wrong
 */
export function parseYaml<T>(
  text: string,
  path: string,
  schema: z.ZodType<T>,
  check: (value: T, refuse: Refuse) => void = () => undefined,
): T {
  const document = new YamlDocument(text);
  const [problem] = document.problems;
  if (problem !== undefined) throw new FileError(placed(path, problem));
  const refuse: Refuse = (at, message) => {
    throw new FileError(placed(path, document.problemAt(at, message)));
  };
  const parsed = schema.safeParse(document.value);
  if (parsed.success) {
    check(parsed.data, refuse);
    return parsed.data;
  }
  // Such files may have secrets.
  const [finding] = describeIssues(parsed.error.issues, { schema, value: document.value, showsTexts: false });
  const { path: at, message, part } = finding ?? { path: [], message: 'is not as expected', part: 'value' };
  throw new FileError(placed(path, document.problemAt(at, message, part)));
}

/** A problem as it is told: `path:line:column: message`. */
export function placed(path: string, { line, column, message }: YamlProblem): string {
  return `${path}:${line}:${column}: ${message}`;
}
