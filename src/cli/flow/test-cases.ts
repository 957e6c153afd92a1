/** The tests of a folder, ready to be run. */
import { join } from 'node:path';
import type { FlowSet } from '../../flows/file/flow.ts';
import { FlowFolder } from '../../flows/file/flow-folder.ts';
import type { FlowTest } from '../../flows/testing/test-file.ts';
import { systemClock } from '../../foundation/clock.ts';
import { FileError, placed } from '../../foundation/yaml-text.ts';
import type { FoundTests } from './find-tests.ts';

/** One test of a file, with the circumstances of the file where it names none. */
export interface TestCase {
  readonly file: FoundTests;
  readonly test: FlowTest;
  readonly set: FlowSet;
  /** Where each line of the script stands in the file, from 1. */
  readonly lines: readonly number[];
}

/**
 * All tests of a folder.
 * @throws FileError when the folder has a file that cannot be used, for all that is wrong, one a line
 */
export async function casesOf(folder: string, found: readonly FoundTests[]): Promise<TestCase[]> {
  const { flows, others } = await FlowFolder.inspect(folder, systemClock);
  const wrong = flows.flatMap(({ file, errors }) => errors.map((problem) => placed(join(folder, file), problem)));
  if (wrong.length + others.length > 0) throw new FileError([...wrong, ...others].join('\n'));
  return found.flatMap((file) => {
    const { flow, tests, lines } = file.tests;
    const set = flows.find(({ name }) => name === flow)?.set ?? null;
    if (set === null) throw new FileError(`${file.shown}: there is no flow ${flow} beside it`);
    return tests.map((test, index) => ({ file, test: withCommon(file.tests, test), set, lines: lines[index] ?? [] }));
  });
}

function withCommon({ at, from, to, parameters, variables, http, transfer, app }: FoundTests['tests'], test: FlowTest) {
  const common = { at, from, to, transfer, app };
  const given = Object.fromEntries(Object.entries(test).filter(([, value]) => value !== undefined));
  return {
    ...common,
    ...(given as FlowTest),
    parameters: { ...parameters, ...test.parameters },
    variables: { ...variables, ...test.variables },
    http: [...(test.http ?? []), ...(http ?? [])],
  };
}
