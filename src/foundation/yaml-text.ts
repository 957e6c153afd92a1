/** Reads YAML that operators write, and says where what is wrong stands. */
import { isCollection, isNode, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { z } from 'zod';

/** A file cannot be used. The message is `path:line:column: what came and what was expected`. */
export class FileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FileError';
  }
}

/** Where a value stands: the keys and indexes that lead to it. */
export type YamlPath = readonly (string | number)[];

/** Refuses the value at `at`. @throws FileError always */
export type Refuse = (at: YamlPath, message: string) => never;

type Document = ReturnType<typeof parseDocument>;

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
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, strict: true, uniqueKeys: true, prettyErrors: false });
  const refuseAt = (offset: number, message: string): never => {
    const { line, col } = lines.linePos(offset);
    throw new FileError(`${path}:${line}:${col}: ${message}`);
  };
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) refuseAt(problem.pos[0], problem.message);
  visit(document, {
    Pair(_, { key }) {
      if (!isCollection(key)) return;
      const came = isSeq(key) ? 'a list' : 'a mapping';
      refuseAt(key.range?.[0] ?? 0, `got ${came} as a key, expected a text`);
    },
  });
  const refuse: Refuse = (at, message) => refuseAt(offsetOf(document, at), `${at.join('.') || 'the file'}: ${message}`);
  const parsed = schema.safeParse(toPlain(document, path));
  if (parsed.success) {
    check(parsed.data, refuse);
    return parsed.data;
  }
  const [issue] = parsed.error.issues;
  const at = (issue?.path ?? []).filter((part) => typeof part !== 'symbol');
  return refuse(at, issue?.message ?? 'is not as expected');
}

/** No aliases: a short text could stand for any amount of values. */
function toPlain(document: Document, path: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    throw new FileError(`${path}: has aliases (*), expected none`);
  }
}

/** Where the value at `path` begins, or the nearest around it. */
function offsetOf(document: Document, path: YamlPath): number {
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const node: unknown = document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}
