/** What stands in trunkline.yaml for values that are elsewhere: `${NAME}` and `{file: path}`. */
import type { YamlPath } from '../../yaml-document.ts';

/** Where values may come from. */
export interface ReferenceSources {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The text of a file, named from the folder of trunkline.yaml. @throws Error that says why it cannot be read */
  readFile(path: string): string;
}

/** A value without references, or why there is none. */
export interface Resolved {
  readonly value: unknown;
  /** Something in it came from elsewhere. */
  readonly isReferred: boolean;
  readonly problems: readonly { readonly path: YamlPath; readonly message: string }[];
}

/** `$${` is `${` itself. */
const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const VARIABLE = /^[A-Za-z_]\w*$/;

/** Replaces all references in `value`, which is at `path`. Values that come from elsewhere are texts. */
export function resolveReferences(value: unknown, path: YamlPath, sources: ReferenceSources): Resolved {
  if (typeof value === 'string') return resolveText(value, path, sources);
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, at) => resolveReferences(item, [...path, at], sources));
    return joined(
      items,
      items.map((item) => item.value),
    );
  }
  if (typeof value !== 'object' || value === null) return { value, isReferred: false, problems: [] };
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length === 1 && only?.[0] === 'file') return resolveFile(only[1], path, sources);
  const fields = entries.map(([key, field]) => [key, resolveReferences(field, [...path, key], sources)] as const);
  return joined(
    fields.map(([, field]) => field),
    Object.fromEntries(fields.map(([key, field]) => [key, field.value])),
  );
}

function joined(parts: readonly Resolved[], value: unknown): Resolved {
  return {
    value,
    isReferred: parts.some(({ isReferred }) => isReferred),
    problems: parts.flatMap(({ problems }) => problems),
  };
}

function resolveText(text: string, path: YamlPath, { variables }: ReferenceSources): Resolved {
  const problems: Resolved['problems'][number][] = [];
  let isReferred = false;
  const value = text.replace(REFERENCE, (reference, name: string | undefined, end: string | undefined) => {
    if (name === undefined) return '${';
    isReferred = true;
    if (end === '' || !VARIABLE.test(name)) {
      // What is there may be part of a password.
      problems.push({ path, message: 'got ${ without the name of a variable and }, expected ${NAME}, or $${ for ${' });
      return reference;
    }
    const found = variables[name]?.trim() ?? '';
    if (found === '') problems.push({ path, message: `\${${name}}: this variable is not set, or is empty` });
    return found;
  });
  return { value, isReferred, problems };
}

function resolveFile(named: unknown, path: YamlPath, sources: ReferenceSources): Resolved {
  const at = [...path, 'file'];
  if (typeof named !== 'string' || named === '')
    return refused(at, 'expected the path of a file, such as {file: /run/secrets/api-keys}');
  const { value: name, problems } = resolveText(named, at, sources);
  if (problems.length > 0) return { value: '', isReferred: true, problems };
  try {
    const text = sources.readFile(String(name)).trim();
    return text === '' ? refused(at, 'this file is empty') : { value: text, isReferred: true, problems: [] };
  } catch (error) {
    return refused(at, error instanceof Error ? error.message : String(error));
  }
}

function refused(path: YamlPath, message: string): Resolved {
  return { value: '', isReferred: true, problems: [{ path, message }] };
}
