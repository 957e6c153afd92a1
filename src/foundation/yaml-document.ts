/** YAML that operators write, with the place in the text of each value. */
import { isCollection, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';

/** Where a value stands: the keys and indexes that lead to it. */
export type YamlPath = readonly (string | number)[];

/** What is wrong, and where. */
export interface YamlProblem {
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
  /** What came and what was expected, after the path of the value where there is one. */
  readonly message: string;
}

/** Whether a place is that of a value, or of the key before it. */
export type YamlPart = 'key' | 'value';

type Document = ReturnType<typeof parseDocument>;

/** A text, read as YAML: it may have problems, and then no value. */
export class YamlDocument {
  /** Why it has no value. */
  readonly problems: readonly YamlProblem[];
  /** Plain objects, lists and values. */
  readonly value: unknown;
  readonly #document: Document;
  readonly #lines = new LineCounter();

  constructor(text: string) {
    this.#document = parseDocument(text, {
      lineCounter: this.#lines,
      strict: true,
      uniqueKeys: true,
      prettyErrors: false,
    });
    const { errors, warnings } = this.#document;
    const found = [...errors, ...warnings].map(({ pos, message }) => this.#problem(pos[0], message));
    this.problems = found.length > 0 ? found : this.#findUnusable();
    this.value = this.problems.length > 0 ? undefined : this.#document.toJS({ maxAliasCount: 0 });
  }

  /** A problem with the value at `path`, or with its key; the nearest place around it where it is missing. */
  problemAt(path: YamlPath, message: string, part: YamlPart = 'value'): YamlProblem {
    return this.#problem(this.#offsetOf(path, part), `${path.join('.') || 'the file'}: ${message}`);
  }

  /** No aliases: a short text could stand for any amount of values. */
  #findUnusable(): YamlProblem[] {
    const problems: YamlProblem[] = [];
    visit(this.#document, {
      Pair: (_, { key }) => {
        if (!isCollection(key)) return;
        const came = isSeq(key) ? 'a list' : 'a mapping';
        problems.push(this.#problem(key.range?.[0] ?? 0, `got ${came} as a key, expected a text`));
      },
      Alias: (_, { range }) => {
        problems.push(this.#problem(range?.[0] ?? 0, 'has aliases (*), expected none'));
      },
    });
    return problems;
  }

  #problem(offset: number, message: string): YamlProblem {
    const { line, col } = this.#lines.linePos(offset);
    return { line, column: col, message };
  }

  #offsetOf(path: YamlPath, part: YamlPart): number {
    const last = path.at(-1);
    const parent: unknown = part === 'key' ? this.#document.getIn(path.slice(0, -1), true) : null;
    if (isMap(parent)) {
      const key = parent.items
        .map((pair) => pair.key)
        .find((node) => isScalar(node) && String(node.value) === `${last}`);
      if (isNode(key) && key.range) return key.range[0];
    }
    for (let depth = path.length; depth >= 0; depth -= 1) {
      const node: unknown = this.#document.getIn(path.slice(0, depth), true);
      if (isNode(node) && node.range) return node.range[0];
    }
    return 0;
  }
}
