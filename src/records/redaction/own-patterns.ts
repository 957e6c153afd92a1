/** The operator's own patterns: a file of names with regular expressions. */
import { findDigitRuns } from './digit-runs.ts';
import type { Finding, Span } from './finding.ts';
import { LinearPattern } from './linear-pattern.ts';
import { PatternError } from './pattern-syntax.ts';
import { tokenise } from './tokens.ts';

const LINE = /^([\p{L}\p{N}][\p{L}\p{N} _-]{0,39}?)\s*:\s*(\S.*)$/u;
const PATTERNS_MAX = 100;
/** All patterns together: each step costs time for every character of every caption. */
const STEPS_MAX = 2000;

interface OwnPattern {
  readonly name: string;
  readonly pattern: LinearPattern;
}

/** Patterns with names, matched in linear time. */
export class OwnPatterns {
  readonly #patterns: readonly OwnPattern[];

  constructor(patterns: readonly OwnPattern[]) {
    this.#patterns = patterns;
  }

  /** How many there are. */
  get count(): number {
    return this.#patterns.length;
  }

  /**
   * What they match in `pieces`, texts that follow one another: as it is written, and with number words written in
   * figures.
   */
  find(pieces: readonly string[]): Finding[] {
    if (this.#patterns.length === 0) return [];
    const inFigures = writeInFigures(pieces);
    return this.#patterns.flatMap(({ name, pattern }) => [
      ...pieces.flatMap((text, piece) =>
        pattern.find(text).map(({ from, to }) => ({ label: name, spans: [{ piece, from, to }] })),
      ),
      ...pattern.find(inFigures.text).map(({ from, to }) => ({ label: name, spans: inFigures.spansOf(from, to) })),
    ]);
  }
}

/** None. */
export const NO_PATTERNS = new OwnPatterns([]);

/**
 * Reads `name: pattern` lines; empty ones and those that begin with `#` are left out.
 * @returns the patterns, and a line for each problem, which names the line of the file
 */
export function readOwnPatterns(file: string): { readonly patterns: OwnPatterns; readonly problems: string[] } {
  const problems: string[] = [];
  const patterns: OwnPattern[] = [];
  let steps = 0;
  file.split(/\r?\n/).forEach((text, index) => {
    const line = text.trim();
    if (line === '' || line.startsWith('#')) return;
    const [, name = '', source = ''] = LINE.exec(line) ?? [];
    if (source === '') problems.push(`line ${index + 1}: expected NAME: PATTERN`);
    else {
      const pattern = compileLine(source, index + 1, problems);
      if (pattern === null) return;
      steps += pattern.size;
      patterns.push({ name, pattern });
    }
  });
  if (patterns.length > PATTERNS_MAX)
    problems.push(`got ${patterns.length} patterns, expected at most ${PATTERNS_MAX}`);
  if (steps > STEPS_MAX)
    problems.push(
      `got patterns of ${steps} steps in all, expected at most ${STEPS_MAX}: fewer repetitions such as {1,50}`,
    );
  return { patterns: new OwnPatterns(patterns), problems };
}

function compileLine(source: string, line: number, problems: string[]): LinearPattern | null {
  try {
    return new LinearPattern(source);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    problems.push(`line ${line}: ${error.message}`);
    return null;
  }
}

/** All texts as one, with "four one two" as "412", and where each character of it comes from. */
function writeInFigures(pieces: readonly string[]) {
  const tokens = tokenise(pieces);
  const digitsAt = new Map<number, { readonly digits: string; readonly to: number; readonly opensGroup: boolean }>();
  for (const { atoms } of findDigitRuns(tokens)) {
    for (const { from, to, digits, opensGroup } of atoms) digitsAt.set(from, { digits, to, opensGroup });
  }
  let text = '';
  const sources: Span[] = [];
  for (let index = 0; index < tokens.length; ) {
    const [first, number] = [tokens[index], digitsAt.get(index)];
    const to = number?.to ?? index + 1;
    const last = tokens[to - 1];
    if (first === undefined || last === undefined) break;
    const source = { piece: first.piece, from: first.from, to: last.to };
    const written = number?.digits ?? pieces[first.piece]?.slice(first.from, first.to) ?? '';
    const isApart = text !== '' && !first.isGlued && number?.opensGroup !== false;
    const gap = isApart ? ' ' : '';
    text += gap + written;
    for (let count = gap.length + written.length; count > 0; count--) sources.push(source);
    index = to;
  }
  return { text, spansOf: (from: number, to: number) => joinSpans(sources.slice(from, to)) };
}

function joinSpans(sources: readonly Span[]): Span[] {
  const spans: Span[] = [];
  for (const source of sources) {
    const last = spans.at(-1);
    if (last?.piece === source.piece) spans[spans.length - 1] = { ...last, to: Math.max(last.to, source.to) };
    else spans.push(source);
  }
  return spans;
}
