/** The tests of a folder, ready to be run. */
import type { FlowSet } from '../../flows/file/flow.ts';
import { FlowFolder } from '../../flows/file/flow-folder.ts';
import type { FlowTest } from '../../flows/testing/test-file.ts';
import { systemClock } from '../../foundation/clock.ts';
import { createLog } from '../../foundation/log/log.ts';
import { FileError } from '../../foundation/yaml-text.ts';
import type { FoundTests } from './find-tests.ts';

/** One test of a file, with the circumstances of the file where it names none. */
export interface TestCase {
  readonly file: FoundTests;
  readonly test: FlowTest;
  readonly set: FlowSet;
}

/** All tests of a folder. @throws ConfigError, FileError */
export async function casesOf(folder: string, found: readonly FoundTests[]): Promise<TestCase[]> {
  const flows = await FlowFolder.open(folder, { clock: systemClock, log: createLog('fatal') });
  try {
    return found.flatMap((file) => {
      const set = flows.get(file.tests.flow);
      if (set === null) throw new FileError(`${file.shown}: there is no flow ${file.tests.flow} beside it`);
      return file.tests.tests.map((test) => ({ file, test: withCommon(file.tests, test), set }));
    });
  } finally {
    flows.close();
  }
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
