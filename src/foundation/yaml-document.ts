/** YAML that operators write, with the place in the text of each value. */
import {
  Composer,
  type CST,
  type Document,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml';

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

/** The composer calls itself for each level, and the process would end where its stack does. */
const DEPTH_MAX = 100;
/** What comes after so many problems most likely follows from them. */
const PROBLEMS_MAX = 100;
/** So much of a key and of a parser's message is repeated. */
const NAME_MAX_CHARS = 64;
const SYNTAX_MAX_CHARS = 120;

const UNEXPECTED = 'UNEXPECTED_TOKEN';
/** Where the parser has lost its way: all that follows does not fit, either. */
const LOST: ReadonlySet<string> = new Set([UNEXPECTED, 'TAB_AS_INDENT', 'BAD_INDENT']);

/** What writers of YAML stumble over, by the codes of its parser. */
const HINTS: Readonly<Record<string, string>> = {
  BAD_ALIAS: 'a text that begins with * stands in quotes',
  BAD_DQ_ESCAPE: 'a backslash in double quotes is written twice',
  BAD_SCALAR_START: 'a text that begins with such a character stands in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a text with a colon and a space stands in quotes',
  MULTILINE_IMPLICIT_KEY: 'a key has a colon and a space behind it',
  TAB_AS_INDENT: 'lines are indented by spaces',
  TAG_RESOLVE_FAILED: 'a text that begins with ! stands in quotes',
  [UNEXPECTED]: 'a text that begins with {, [ or a quote stands in quotes as a whole',
};

/** A text, read as YAML: it may have problems, and then no value. */
export class YamlDocument {
  /** Why it has no value. */
  readonly problems: readonly YamlProblem[];
  /** Plain objects, lists and values. */
  readonly value: unknown;
  readonly #document: Document | null;
  readonly #lines = new LineCounter();

  constructor(text: string) {
    const tokens = this.#tokensOf(text);
    if (typeof tokens === 'number') {
      this.#document = null;
      this.problems = [this.#problem(tokens, `is nested deeper than ${DEPTH_MAX} levels`)];
      this.value = undefined;
      return;
    }
    const composer = new Composer({ strict: true, uniqueKeys: false, prettyErrors: false });
    const documents = [...composer.compose(tokens, true, text.length)];
    this.#document = documents[0] ?? null;
    this.problems = this.#problemsIn(documents).slice(0, PROBLEMS_MAX);
    this.value = this.problems.length > 0 ? undefined : this.#document?.toJS({ maxAliasCount: 0 });
  }

  /** A problem with the value at `path`, or with its key; the nearest place around it where it is missing. */
  problemAt(path: YamlPath, message: string, part: YamlPart = 'value'): YamlProblem {
    const place = path.map((name) => cut(String(name), NAME_MAX_CHARS)).join('.');
    return this.#problem(this.#offsetOf(path, part), `${place || 'the file'}: ${message}`);
  }

  /** The index of the character where it is too deep, if it is. */
  #tokensOf(text: string): CST.Token[] | number {
    const tokens: CST.Token[] = [];
    const parser = new Parser(this.#lines.addNewLine);
    this.#lines.addNewLine(0);
    for (const lexeme of new Lexer().lex(text)) {
      tokens.push(...parser.next(lexeme));
      if (parser.stack.length > DEPTH_MAX) return parser.offset;
    }
    tokens.push(...parser.end());
    return tokens;
  }

  #problemsIn([document, other]: readonly Document[]): YamlProblem[] {
    const found = [...(document?.errors ?? []), ...(document?.warnings ?? [])].map((error) =>
      this.#syntaxProblem(error),
    );
    const first = this.#document?.errors.findIndex(({ code }) => LOST.has(code)) ?? -1;
    if (first >= 0) return found.slice(0, first + 1);
    if (other !== undefined) found.push(this.#problem(other.range?.[0] ?? 0, 'expected one document, without ---'));
    return found.length > 0 ? found : this.#findUnusable();
  }

  #syntaxProblem({ pos, code, message }: YAMLError): YamlProblem {
    const hint = HINTS[code];
    // Behind a colon some repeat the text from there on, which may be a password.
    const told = cut(message.split(': ', 1)[0] ?? '', SYNTAX_MAX_CHARS);
    return this.#problem(pos[0], hint === undefined ? told : `${hint} (${told})`);
  }

  /** No aliases: a short text could stand for any amount of values. */
  #findUnusable(): YamlProblem[] {
    const problems: YamlProblem[] = [];
    if (this.#document !== null)
      visit(this.#document, {
        Map: (_, map) => {
          problems.push(...this.#repeatedKeys(map));
        },
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

  /** The parser would compare each key with each other one. They become names of one object: 1 and '1' are the same. */
  #repeatedKeys({ items }: YAMLMap): YamlProblem[] {
    const seen = new Set<string>();
    return items.flatMap(({ key }) => {
      if (!isScalar(key)) return [];
      const name = String(key.value);
      if (!seen.has(name)) {
        seen.add(name);
        return [];
      }
      return [this.#problem(key.range?.[0] ?? 0, 'the same key stands above')];
    });
  }

  #problem(offset: number, message: string): YamlProblem {
    const { line, col } = this.#lines.linePos(offset);
    return { line, column: col, message };
  }

  #offsetOf(path: YamlPath, part: YamlPart): number {
    let found: unknown = this.#document?.contents;
    let offset = 0;
    for (const [depth, name] of path.entries()) {
      if (isNode(found) && found.range) offset = found.range[0];
      const { key, value } = childOf(found, name);
      // A value that is left out has no place of its own.
      if (isNode(key) && key.range && depth === path.length - 1) offset = key.range[0];
      if (part === 'key' && depth === path.length - 1) return offset;
      found = value;
    }
    return isNode(found) && found.range ? found.range[0] : offset;
  }
}

function cut(text: string, maxChars: number): string {
  return text.length > maxChars ? `${text.slice(0, maxChars)}…` : text;
}

/** Keys are compared as texts: YAML reads some of them as numbers. */
function childOf(parent: unknown, name: string | number): { readonly key?: unknown; readonly value?: unknown } {
  if (isSeq(parent)) return { value: parent.items[Number(name)] };
  if (!isMap(parent)) return {};
  return parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(name)) ?? {};
}
