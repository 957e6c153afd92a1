/** How a file of ours is written. Each function returns what breaks its rule, one line for each place. */
import { importsOf, linesInTemplates, type SourceFile, stripSource } from './source.ts';

const FILE_MAX_LINES = 600;
const FUNCTION_MAX_LINES = 60;
const LINE_MAX_CHARS = 120;

/** Places where `pattern` stands in the code (or, with `inComments`, anywhere) of files not in `except`. */
function findPattern(
  files: readonly SourceFile[],
  pattern: RegExp,
  options: { except?: readonly string[]; inComments?: true } = {},
): string[] {
  const found: string[] = [];
  for (const file of files) {
    if (options.except?.includes(file.path)) continue;
    const lines = (options.inComments ? file.text : stripSource(file.text)).split('\n');
    for (const [index, line] of lines.entries()) {
      const match = pattern.exec(line);
      if (match !== null) found.push(`${file.path}:${index + 1} has ${match[0].trim()}`);
    }
  }
  return found;
}

/** The environment is read in one place; one switch in it is set in another, and the loader's own is the loader's. */
export function findEnvironmentReads(files: readonly SourceFile[]): string[] {
  return findPattern(files, /\bprocess\s*\.\s*env\b/, {
    except: [
      'src/foundation/settings/config.ts',
      'engine/telemetry-off.ts',
      'engine/models/espeak.ts',
      'engine/cuda/library-search.ts',
    ],
  });
}

/** Time comes from the clock that one is given. */
export function findClockReads(files: readonly SourceFile[]): string[] {
  const pattern = /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.now\b|\bset(?:Timeout|Interval)\b/;
  return findPattern(files, pattern, { except: ['src/foundation/clock.ts', 'engine/time.ts'] });
}

/** Sizes come from the codec: a frame is so many bytes only for one of them. */
export function findFrameSizes(files: readonly SourceFile[]): string[] {
  return findPattern(files, /(?<![\w.])160(?![\w.])/);
}

/** What is to be done is an issue, not a comment. */
export function findReminders(files: readonly SourceFile[]): string[] {
  return findPattern(files, /\bTO(?:DO)\b|\bFIX(?:ME)\b|\bXX(?:X)\b/, { inComments: true });
}

/** The public API of the package, which gathers what other files export. */
const PUBLIC_API = 'src/api.ts';

/** Named exports, each from the file that has it. */
export function findDefaultExportsAndBarrels(files: readonly SourceFile[]): string[] {
  const barrels = files
    .filter(({ path }) => /\/index\.(ts|js|mjs)$/.test(path))
    .map(({ path }) => `${path} is a barrel`);
  return [...barrels, ...findPattern(files, /\bexport\s+(default\b|\*|\{[^}]*\}\s*from\b)/, { except: [PUBLIC_API] })];
}

/** Imports of our own files end in `.ts`. */
export function findImportsWithoutEnding(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    importsOf(file)
      .filter(({ specifier }) => specifier.startsWith('.') && !specifier.endsWith('.ts'))
      .map(({ specifier }) => `${file.path} imports ${specifier}`),
  );
}

/** What the formatter keeps on one line, and what has no place to break: a pattern, or a text without a space. */
const UNBREAKABLE = [
  /^import .* from '[^']*';$/,
  /^\s*(?:it|describe)\((?:'[^']*'|`[^`]*`), (?:async )?\([^()]*\) => \{$/,
  /^\s*\/(?![/*]).*\/[a-z]*[,;)]*$/,
  /^\s*(?:return )?(?:'[^' ]*'|"[^" ]*"|`[^` ]*`)[,;)]*(?: \+)?$/,
];

/** Lines that are too long to be read at once. */
export function findLongLines(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const long = text.split('\n').flatMap((line, index) => {
      const isLong = line.length > LINE_MAX_CHARS && !UNBREAKABLE.some((pattern) => pattern.test(line));
      return isLong ? [{ index, chars: line.length }] : [];
    });
    if (long.length === 0) return [];
    const inTemplates = linesInTemplates(text);
    return long
      .filter(({ index }) => !inTemplates.has(index))
      .map(({ index, chars }) => `${path}:${index + 1} has ${chars} characters`);
  });
}

/** Objects spread where they are written: their properties can stand by themselves. */
export function findSpreadLiterals(files: readonly SourceFile[]): string[] {
  return findPattern(files, /\.\.\.\s*\{/);
}

/** Files that have grown too long. */
export function findLongFiles(files: readonly SourceFile[]): string[] {
  return files
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > FILE_MAX_LINES)
    .map(({ path, lines }) => `${path} has ${lines} lines`);
}

/**
 * What stands before the brace of a function's body: `)`, perhaps a return type, perhaps `=>`; but not `if (…)` and its
 * like.
 */
const FUNCTION_HEAD = /\)\s*(?::[^;{}()=\n]*(?:\{[^{}\n]*\}[^;{}()=\n]*)?)?(?:=>\s*)?$/;
const STATEMENT_HEAD = /\b(?:if|for|while|switch|catch|with)\s*(?:await\s*)?\($/;

/** Functions that have grown too long. */
export function findLongFunctions(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const code = stripSource(file.text);
    return [...code.matchAll(/\{/g)]
      .filter(({ index }) => opensFunction(code, index))
      .map(({ index }) => ({
        line: lineOf(code, index),
        lines: lineOf(code, closingBrace(code, index)) - lineOf(code, index) + 1,
      }))
      .filter(({ lines }) => lines > FUNCTION_MAX_LINES)
      .map(({ line, lines }) => `${file.path}:${line} begins a function of ${lines} lines`);
  });
}

function opensFunction(code: string, brace: number): boolean {
  const before = code.slice(Math.max(0, brace - 400), brace);
  const head = FUNCTION_HEAD.exec(before);
  if (head === null) return false;
  return !STATEMENT_HEAD.test(before.slice(0, openingParenthesis(before, head.index) + 1));
}

/** Where the parenthesis opens that closes at `close`; -1 when it lies further back than `text` goes. */
function openingParenthesis(text: string, close: number): number {
  let depth = 0;
  for (let at = close; at >= 0; at--) {
    if (text[at] === ')') depth += 1;
    if (text[at] === '(') depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

function closingBrace(code: string, open: number): number {
  let depth = 0;
  for (let at = open; at < code.length; at++) {
    if (code[at] === '{') depth += 1;
    if (code[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return code.length;
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

const EXPORTED = /^export (?:async |abstract |declare )*(?<kind>function\*?|class|interface|const) (?<name>\w+)/;

/**
 * Exported things without a doc comment right above them. A comment may also stand for the next signature of the same
 * function or the next constant of the same group, and the comment that begins a file for the only class in it.
 */
export function findUndocumentedExports(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const lines = text.split('\n');
    const classes = lines.filter((line) => EXPORTED.exec(line)?.groups?.['kind'] === 'class').length;
    const isHeaded = text.startsWith('/**') && classes === 1;
    return lines.flatMap((line, index) => {
      const { kind, name } = EXPORTED.exec(line)?.groups ?? {};
      const above = lines[index - 1] ?? '';
      const before = EXPORTED.exec(above)?.groups;
      const isShared = kind === 'const' ? before?.['kind'] === 'const' : before?.['name'] === name;
      const isSaid = above.trim().endsWith('*/') || isShared || (kind === 'class' && isHeaded);
      return name === undefined || isSaid ? [] : [`${path}:${index + 1} exports ${name} without saying what it is`];
    });
  });
}
