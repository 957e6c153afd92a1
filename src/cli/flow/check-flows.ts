/** `trunkline flow check`: what is wrong with flows, and where. */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FlowSet } from '../../flows/file/flow.ts';
import { FlowFolder, type FlowState } from '../../flows/file/flow-folder.ts';
import { findUnknownSteps, readTests, TEST_FILE_END, TEST_FILE_MAX_BYTES } from '../../flows/testing/read-test-file.ts';
import { systemClock } from '../../foundation/clock.ts';
import { readFileText } from '../../foundation/watched-file.ts';
import type { YamlProblem } from '../../foundation/yaml-document.ts';
import { FileError, placed } from '../../foundation/yaml-text.ts';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';

/** How the findings are printed, and FLOWS_DIR. */
export interface CheckOptions {
  readonly json: boolean;
  readonly folder: string;
}

interface Finding {
  readonly severity: 'error' | 'warning';
  readonly file: string;
  /** Null = the file as a whole. */
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
}

/** What was looked at: how many flows, and what was found. */
interface Checked {
  readonly flows: number;
  readonly findings: readonly Finding[];
}

/** How messages begin that name a place. */
const PLACED = /^(.*?):(\d+):(\d+): (.*)$/s;

/** Checks flows. Returns the exit code. @throws FileError when a path is not there, or none is named */
export async function checkFlows(
  paths: readonly string[],
  { json, folder }: CheckOptions,
  { out }: Terminal,
): Promise<number> {
  const wanted = paths.length > 0 ? paths : [folder].filter((path) => path !== '');
  if (wanted.length === 0) throw new FileError('expected a folder or a file of flows, or FLOWS_DIR');
  const checked: Checked[] = [];
  for (const path of wanted) checked.push(await check(path));
  const findings = checked.flatMap((one) => one.findings);
  const count = (severity: Finding['severity']): number => findings.filter((one) => one.severity === severity).length;
  const summary = {
    flows: checked.reduce((sum, { flows }) => sum + flows, 0),
    errors: count('error'),
    warnings: count('warning'),
  };
  for (const finding of findings) out.line(json ? JSON.stringify(finding) : lineOf(finding));
  const { flows, errors, warnings } = summary;
  out.line(json ? JSON.stringify({ summary }) : `Flows: ${flows}, errors: ${errors}, warnings: ${warnings}`);
  return errors === 0 ? EXIT_OK : EXIT_FAILED;
}

async function check(path: string): Promise<Checked> {
  const found = await stat(path).catch(() => null);
  if (found === null) throw new FileError(`${path}: there is no such file or folder`);
  return found.isDirectory() ? checkFolder(path) : checkFile(path);
}

async function checkFolder(folder: string): Promise<Checked> {
  const { flows, others, passedOver } = await FlowFolder.inspect(folder, systemClock);
  const names = await readdir(folder);
  const tests = await Promise.all(
    names.filter((name) => name.endsWith(TEST_FILE_END)).map((name) => checkTests(join(folder, name), flows)),
  );
  const unread = passedOver.map((name) =>
    whole('warning', `${join(folder, name)}: is not read, expected a name that ends with .yaml`),
  );
  const none = flows.length + others.length + tests.length === 0 ? [await noFlowsIn(folder)] : [];
  const findings = flows.flatMap((flow) => findingsOf(flow, folder));
  const ofFolder = others.map((message) => whole('error', message));
  return { flows: flows.length, findings: [...findings, ...tests.flat(), ...ofFolder, ...unread, ...none] };
}

/** Flows of folders inside of it are not looked for, as a server does not. */
async function noFlowsIn(folder: string): Promise<Finding> {
  const entries = await readdir(folder, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
  const found = await Promise.all(folders.map(async (inner) => ({ inner, names: await readdir(inner) })));
  const inner = found.find(({ names }) => names.some((name) => name.endsWith('.yaml')))?.inner;
  const hint = inner === undefined ? '' : `; folders inside of it are not looked at, so name them: ${inner}`;
  return whole('error', `${folder}: has no flow, which is a file that ends with .yaml${hint}`);
}

async function checkFile(path: string): Promise<Checked> {
  const { flows, others } = await FlowFolder.inspect(dirname(path), systemClock);
  if (path.endsWith(TEST_FILE_END)) return { flows: 0, findings: await checkTests(path, flows) };
  const flow = flows.find(({ file }) => file === basename(path));
  if (flow !== undefined) return { flows: 1, findings: findingsOf(flow, dirname(path)) };
  if (basename(path) === 'numbers.yaml')
    return { flows: 0, findings: others.map((message) => whole('error', message)) };
  throw new FileError(`${path}: is no flow, expected a file that ends with .yaml`);
}

async function checkTests(path: string, flows: readonly FlowState[]): Promise<Finding[]> {
  try {
    const read = readTests(await readFileText(path, TEST_FILE_MAX_BYTES), path);
    const called = flows.find(({ name }) => name === read.tests?.flow);
    const warnings = called?.set ? findUnknownSteps(read, stepsOf(called.set)) : [];
    const missing =
      read.tests !== null && called === undefined
        ? [whole('error', `${path}: there is no flow ${read.tests.flow} beside it`)]
        : [];
    return [...missing, ...placedIn(path, 'error', read.errors), ...placedIn(path, 'warning', warnings)];
  } catch (error) {
    if (error instanceof FileError) return [whole('error', error.message)];
    throw error;
  }
}

/** Of the flow and of those that it calls. */
function stepsOf({ flows }: FlowSet): Set<string> {
  return new Set([...flows.values()].flatMap(({ steps }) => [...steps.keys()]));
}

function findingsOf({ file, errors, warnings }: FlowState, folder: string): Finding[] {
  const path = join(folder, file);
  return [...placedIn(path, 'error', errors), ...placedIn(path, 'warning', warnings)];
}

function placedIn(file: string, severity: Finding['severity'], problems: readonly YamlProblem[]): Finding[] {
  return problems.map((problem) => ({ severity, file, ...problem }));
}

/** Of a message that names its place, or a file alone. */
function whole(severity: Finding['severity'], told: string): Finding {
  const [, file, line, column, message] = PLACED.exec(told) ?? [];
  if (file !== undefined && message !== undefined)
    return { severity, file, line: Number(line), column: Number(column), message };
  const end = told.indexOf(': ');
  return { severity, file: told.slice(0, Math.max(end, 0)), line: null, column: null, message: told.slice(end + 2) };
}

function lineOf({ severity, file, line, column, message }: Finding): string {
  const text = severity === 'warning' ? `warning: ${message}` : message;
  return line === null || column === null ? `${file}: ${text}` : placed(file, { line, column, message: text });
}
