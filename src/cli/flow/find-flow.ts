/** Finds the flow that the command line names. */
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FlowSet } from '../../flows/file/flow.ts';
import { FlowFolder } from '../../flows/file/flow-folder.ts';
import { systemClock } from '../../foundation/clock.ts';
import { FileError, placed } from '../../foundation/yaml-text.ts';

const END = '.yaml';

/**
 * The flow in the file at `path`, or the one called `path` in `folder` (FLOWS_DIR), with those that it calls.
 * @throws FileError when it is not there or has errors, one a line
 */
export async function findFlow(path: string, folder: string): Promise<FlowSet> {
  const isName = !path.includes('/') && !path.endsWith(END);
  const file = isName ? join(folder === '' ? '.' : folder, `${path}${END}`) : path;
  const isThere = await stat(file).then(
    (kind) => kind.isFile(),
    () => false,
  );
  if (!isThere) throw new FileError(`${file}: there is no such file, expected the file of a flow`);
  const { flows } = await FlowFolder.inspect(dirname(file), systemClock);
  const { set, errors } = flows.find(({ name }) => name === basename(file, END)) ?? { set: null, errors: [] };
  if (errors.length > 0) throw new FileError(errors.map((problem) => placed(file, problem)).join('\n'));
  if (set === null) throw new FileError(`${file}: is no flow`);
  return set;
}
