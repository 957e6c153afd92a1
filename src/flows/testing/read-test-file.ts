/** Reads `*.test.yaml`. */
import { basename } from 'node:path';
import { didYouMean } from '../../foundation/nearest-name.ts';
import { describeIssues } from '../../foundation/schema-findings.ts';
import { YamlDocument, type YamlPath, type YamlProblem } from '../../foundation/yaml-document.ts';
import { FileError, placed } from '../../foundation/yaml-text.ts';
import { type FlowTestFile, testFileSchema } from './test-file.ts';

/** What the names of such files end with. */
export const TEST_FILE_END = '.test.yaml';
export const TEST_FILE_MAX_BYTES = 1_048_576;

/** A file of tests, and the flow that they call. */
export interface NamedTests extends FlowTestFile {
  readonly flow: string;
}

/** Such tests, and where each line of the script of each test stands in the file, from 1. */
export interface LocatedTests extends NamedTests {
  readonly lines: readonly (readonly number[])[];
}

/** What was read of a file. */
export interface ReadTests {
  readonly document: YamlDocument;
  /** Null = there are errors. */
  readonly tests: NamedTests | null;
  /** All that is wrong, in the order of the text. */
  readonly errors: readonly YamlProblem[];
}

/** Reads the text of the file at `path`, which counts for its name alone. */
export function readTests(text: string, path: string): ReadTests {
  const document = new YamlDocument(text);
  if (document.problems.length > 0) return { document, tests: null, errors: document.problems };
  const parsed = testFileSchema.safeParse(document.value);
  if (!parsed.success) {
    const reading = { schema: testFileSchema, value: document.value, showsTexts: true };
    const found = describeIssues(parsed.error.issues, reading);
    return {
      document,
      tests: null,
      errors: inOrder(found.map(({ path: at, message, part }) => document.problemAt(at, message, part))),
    };
  }
  const errors = inOrder(
    sameNames(parsed.data).map((at) => document.problemAt(at, 'there is a test of this name already')),
  );
  const tests = { ...parsed.data, flow: parsed.data.flow ?? basename(path).slice(0, -TEST_FILE_END.length) };
  return { document, tests: errors.length > 0 ? null : tests, errors };
}

/** The tests in `text`. `path` is that of the file. @throws FileError for all that is wrong, one a line */
export function readTestFile(text: string, path: string): LocatedTests {
  const { document, tests, errors } = readTests(text, path);
  if (tests === null) throw new FileError(errors.map((problem) => placed(path, problem)).join('\n'));
  const lines = tests.tests.map(({ script }, test) =>
    script.map((_, at) => document.problemAt(['tests', test, 'script', at], '').line),
  );
  return { ...tests, lines };
}

/** Where tests name steps that are not among `steps`. */
export function findUnknownSteps({ document, tests }: ReadTests, steps: ReadonlySet<string>): YamlProblem[] {
  const named = (tests?.tests ?? []).flatMap((test, index) => {
    const path: YamlPath = ['tests', index];
    const inScript = test.script.flatMap(({ expect }, at): Named[] =>
      expect?.step === undefined ? [] : [{ path: [...path, 'script', at, 'expect', 'step'], step: expect.step }],
    );
    const inLists = (['steps', 'notSteps'] as const).flatMap((list) =>
      (test[list] ?? []).map((step, at): Named => ({ path: [...path, list, at], step })),
    );
    return [...inScript, ...inLists];
  });
  const unknown = named.filter(({ step }) => !steps.has(step));
  return inOrder(
    unknown.map(({ path, step }) => document.problemAt(path, `the flow has no step ${step}${didYouMean(step, steps)}`)),
  );
}

interface Named {
  readonly path: YamlPath;
  readonly step: string;
}

function sameNames({ tests }: FlowTestFile): YamlPath[] {
  const names = new Set<string>();
  return tests.flatMap(({ name }, index) => {
    const isTaken = names.has(name);
    names.add(name);
    return isTaken ? [['tests', index, 'name']] : [];
  });
}

function inOrder(problems: readonly YamlProblem[]): YamlProblem[] {
  return problems.toSorted((one, other) => one.line - other.line || one.column - other.column);
}
