/** Regular expressions of the sources, judged by scslre: none may take more than linear time on any text. */
import { join } from 'node:path';
import { analyse } from 'scslre';
import { codeInTemplates, type SourceFile, tokensOf } from './source.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const CONSTRUCTED = /\bnew RegExp\(/g;

/** Files with patterns that are made of arguments, or that scslre judges too hard, and why no text is slow in them. */
const JUDGED: Readonly<Record<string, string>> = {
  'src/console/page/live/highlight.js': 'a choice of words, without any repetition',
  'src/carriers/sip/simulator/phone-sdp.ts': 'one run of digits at the beginning of a line',
  'src/carriers/sip/simulator/phone-srtp.ts': 'one run of one class at the beginning of a line',
  'src/carriers/sip/simulator/message.ts': 'a run behind a name and a quote, and neither is in it',
  'src/simulator/twilio-webhook.ts': 'reads one element that was matched in linear time',
  'src/flows/testing/test-world.ts': 'a URL pattern that the author of a flow wrote for a test of it',
  'engine/models/hibari/phonemes/words.ts': 'what the lazy run walks in vain, the alternative after it takes',
  'engine/models/hibari/phonemes/clauses.ts': 'one repetition of any character, at most a given number of times',
};

interface Pattern {
  readonly source: string;
  readonly flags: string;
}

/** Literals that take polynomial or exponential time on a text that is made for them. */
export function findSlowPatterns(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    literalsIn(text)
      .filter((pattern) => isSlow(pattern))
      .map(({ source, flags }) => `${path} has /${source}/${flags}, which is not linear`),
  );
}

/** Those of the patterns that modules make of pieces while they are loaded. */
export async function findSlowMadePatterns(files: readonly SourceFile[]): Promise<string[]> {
  const found: string[] = [];
  for (const { path, text } of files) {
    const written = [...text.matchAll(CONSTRUCTED)].length;
    if (written === 0 || path in JUDGED) continue;
    const made = await patternsMadeBy(path);
    found.push(
      ...made
        .filter((pattern) => isSlow(pattern))
        .map(({ source, flags }) => `${path} makes /${source}/${flags}, which is not linear`),
    );
    if (made.length < written)
      found.push(`${path} makes ${written - made.length} patterns later, which nobody has judged`);
  }
  return found;
}

/** Of `JUDGED`, the files that make no pattern. */
export function findNeedlessExceptions(files: readonly SourceFile[]): string[] {
  return Object.keys(JUDGED).filter(
    (path) => !files.some((file) => file.path === path && file.text.includes('new RegExp(')),
  );
}

/** Whether it is polynomial (a run that may begin at every place of a text counts) or exponential. */
export function isSlow(pattern: Pattern): boolean {
  return analyse(pattern, { maxReports: 1, assumeRejectingSuffix: false }).reports.length > 0;
}

function literalsIn(text: string): Pattern[] {
  const literals = tokensOf(text)
    .filter(({ kind }) => kind === 'regex')
    .map(({ text: literal }) => {
      const end = literal.lastIndexOf('/');
      return { source: literal.slice(1, end), flags: literal.slice(end + 1) };
    });
  return [...literals, ...codeInTemplates(text).flatMap((code) => literalsIn(code))];
}

/** What a module hands to RegExp while it is loaded, once more and apart from others. */
async function patternsMadeBy(path: string): Promise<Pattern[]> {
  const made: Pattern[] = [];
  const { RegExp: original } = globalThis;
  await import(`${join(ROOT, path)}`);
  globalThis.RegExp = new Proxy(original, {
    construct(target, [source, flags]: [string | RegExp, string | undefined], newTarget) {
      const pattern = Reflect.construct(target, [source, flags], newTarget);
      made.push({ source: pattern.source, flags: pattern.flags });
      return pattern;
    },
  });
  try {
    await import(`${join(ROOT, path)}?patterns`);
  } finally {
    globalThis.RegExp = original;
  }
  return made;
}
