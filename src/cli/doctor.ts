/** `trunkline doctor`: checks whether this machine can run Trunkline. */

import { checkCertificates } from '../checks/check-certificate.ts';
import { checkChat } from '../checks/check-chat.ts';
import { checkCluster } from '../checks/check-cluster.ts';
import {
  checkCores,
  checkFfmpeg,
  checkMemory,
  checkModels,
  checkNode,
  checkPorts,
  checkRuntime,
  checkSettings,
} from '../checks/checks.ts';
import type { Finding } from '../foundation/finding.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { PARTS } from '../gateway/parts.ts';
import { checkInstalled } from '../models/check-installed.ts';
import { checksOf } from '../parts/lists.ts';
import { showCapacity } from './capacity.ts';
import { checkFiles } from './check-files.ts';
import { checkDisk, checkRecords, checkServer } from './check-records.ts';
import { checkRemotes } from './check-remotes.ts';
import { EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

const LABEL_CHARS = 12;
const MARKS: Readonly<Record<Finding['status'], string>> = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' };

/** The options of the command. */
export interface DoctorOptions {
  readonly json: boolean;
  /** Also compare the SHA-256 of every file of installed models. */
  readonly hashes: boolean;
  /** Also measure how many calls the machine holds, if all is well. */
  readonly capacity: boolean;
}

/**
 * Runs every check, one after the other, and tells its findings at once; `settings` = those in effect, or the defaults
 * where they cannot be used.
 */
export async function findAll(
  { hashes }: Pick<DoctorOptions, 'hashes'>,
  onFound: (found: readonly Finding[]) => void,
): Promise<{ readonly settings: Settings; readonly findings: readonly Finding[] }> {
  const { settings, findings: settingsFindings } = checkSettings();
  const checks: readonly (() => Promise<Finding[]>)[] = [
    async () => [await checkNode()],
    async () => settingsFindings,
    async () => [checkCores(settings)],
    async () => checkMemory(settings),
    () => checkPorts(settings),
    () => checkRuntime(settings),
    () => checkModels(settings),
    () => checkRemotes(settings),
    () => checkInstalled(settings, { hashes }),
    () => checkRecords(settings),
    () => checkDisk(settings),
    () => checkServer(settings),
    () => checkCluster(settings),
    () => checkFiles(settings),
    () => checkCertificates(settings),
    ...checksOf(PARTS, settings),
    () => checkChat(settings),
    async () => [await checkFfmpeg()],
  ];
  const findings: Finding[] = [];
  for (const check of checks) {
    const found = await check();
    findings.push(...found);
    onFound(found);
  }
  return { settings, findings };
}

/**
 * Runs every check and prints its findings at once. Returns the exit code: failed when a check fails, or the machine
 * cannot hold a single call.
 */
export async function doctor(options: DoctorOptions, terminal: Terminal): Promise<number> {
  const { out, err } = terminal;
  let done = 0;
  const show = (found: readonly Finding[]): void => {
    err.live([]);
    done += found.length;
    if (!options.json)
      for (const { name, status, detail } of found)
        out.line(`${MARKS[status]}  ${name.padEnd(LABEL_CHARS)}  ${detail}`);
    err.live([{ text: `Checking… ${done} done` }]);
  };
  const { settings, findings } = await findAll(options, show);
  err.live([]);
  const healthy = findings.every(({ status }) => status !== 'fail');
  if (!options.capacity || !healthy) {
    if (options.json) out.line(JSON.stringify({ healthy, findings }, null, 2));
    return healthy ? EXIT_OK : EXIT_FAILED;
  }
  const capacity = await showCapacity(settings, { quiet: options.json }, terminal);
  if (capacity === null) return EXIT_INTERRUPTED;
  if (options.json) out.line(JSON.stringify({ healthy, findings, capacity }, null, 2));
  return capacity.calls > 0 ? EXIT_OK : EXIT_FAILED;
}
