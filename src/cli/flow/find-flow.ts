/** Finds the flow that the command line names. */
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FlowSet } from '../../flows/file/flow.ts';
import { FlowFolder } from '../../flows/file/flow-folder.ts';
import { systemClock } from '../../foundation/clock.ts';
import { createLog } from '../../foundation/log/log.ts';
import { FileError } from '../../foundation/yaml-text.ts';

const END = '.yaml';

/**
 * The flow in the file at `path`, or the one called `path` in `folder` (FLOWS_DIR), with those that it calls.
 * @throws ConfigError when the flows of its folder cannot be used, FileError when it is not among them
 */
export async function findFlow(path: string, folder: string): Promise<FlowSet> {
  const isName = !path.includes('/') && !path.endsWith(END);
  const file = isName ? join(folder === '' ? '.' : folder, `${path}${END}`) : path;
  const isThere = await stat(file).then(
    (kind) => kind.isFile(),
    () => false,
  );
  if (!isThere) throw new FileError(`${file}: there is no such file, expected the file of a flow`);
  const flows = await FlowFolder.open(dirname(file), { clock: systemClock, log: createLog('fatal') });
  flows.close();
  const set = flows.get(basename(file, END));
  if (set === null) throw new FileError(`${file}: is no flow`);
  return set;
}
