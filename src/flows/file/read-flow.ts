/** Reads a flow's file. */
import { createHash } from 'node:crypto';
import { describeIssues, keysAt, valueAt } from '../../foundation/schema-findings.ts';
import { YamlDocument, type YamlPath, type YamlProblem } from '../../foundation/yaml-document.ts';
import { FLOW_VERBS, VERB_SCHEMAS } from '../verbs/table.ts';
import { checkFlow } from './check-flow.ts';
import type { Flow } from './flow.ts';
import { type FlowFile, flowSchema } from './flow-file.ts';
import type { FlowFinding } from './flow-finding.ts';
import { toFlow } from './to-flow.ts';

/** What was read of a file. */
export interface ReadFlow {
  readonly document: YamlDocument;
  /** Null = there are errors. */
  readonly flow: Flow | null;
  /** In the order of the text. */
  readonly errors: readonly YamlProblem[];
  /** What may be wrong, and does not keep the flow from being used. */
  readonly warnings: readonly YamlProblem[];
}

/** Reads the text of the flow `name`. All that is wrong with it is told. */
export function readFlow(text: string, name: string): ReadFlow {
  const document = new YamlDocument(text);
  if (document.problems.length > 0) return { document, flow: null, errors: document.problems, warnings: [] };
  const parsed = flowSchema.safeParse(document.value);
  const findings: FlowFinding[] = [];
  if (!parsed.success) {
    const reading = { schema: flowSchema, value: document.value, showsTexts: true };
    for (const { path, message, part } of describeIssues(parsed.error.issues, reading)) {
      const told = part === 'key' ? (misplaced(path, document.value) ?? message) : message;
      findings.push({ path, message: told, ...(part === 'key' ? { part } : {}) });
    }
  }
  const file = parsed.success ? parsed.data : readRest(document.value, findings);
  if (file !== null) findings.push(...checkFlow(file, new Set(Object.keys(stepsOf(document.value)))));
  const errors = problemsOf(
    findings.filter(({ isWarning }) => isWarning === undefined),
    document,
  );
  const warnings = problemsOf(
    findings.filter(({ isWarning }) => isWarning),
    document,
  );
  if (!parsed.success || errors.length > 0) return { document, flow: null, errors, warnings };
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { document, flow: toFlow(parsed.data, name, sha256), errors, warnings };
}

/** What is said of a field that stands beside the verb it belongs to; null = it belongs to none. */
function misplaced(path: YamlPath, value: unknown): string | null {
  const [, step = '', key = ''] = path;
  if (path.length !== 3 || path[0] !== 'steps') return null;
  const written = stepsOf(value)[step];
  const verb = FLOW_VERBS.find(
    (name) => isRecord(written) && name in written && keysAt(VERB_SCHEMAS[name], []).includes(String(key)),
  );
  if (verb === undefined) return null;
  const short = isRecord(written) && !isRecord(written[verb]) ? `, which is then written in full` : '';
  return `belongs to ${verb}: it stands below that, two spaces further right${short}`;
}

/** Where findings stand, in the order of the text. */
export function problemsOf(findings: readonly FlowFinding[], document: YamlDocument): YamlProblem[] {
  return findings
    .map(({ path, message, part }) => document.problemAt(asWritten(path, document.value), message, part))
    .toSorted((one, other) => one.line - other.line || one.column - other.column);
}

/** What needs no more than one thing may be written as that alone: the path of what stands in the file. */
function asWritten(path: YamlPath, value: unknown): YamlPath {
  let written = path;
  while (written.length > 1 && typeof valueAt(value, written.slice(0, -1)) !== 'object') written = written.slice(0, -1);
  return written;
}

/** The flow without what is wrong, so that the rest can be checked; null = too much is wrong. */
function readRest(value: unknown, findings: readonly FlowFinding[]): FlowFile | null {
  if (!isRecord(value)) return null;
  const wrong = new Set(findings.map(({ path }) => path.slice(0, path[0] === 'steps' ? 2 : 1).join('.')));
  const right = (part: Readonly<Record<string, unknown>>, prefix: string) =>
    Object.fromEntries(Object.entries(part).filter(([key]) => !wrong.has(`${prefix}${key}`)));
  const steps = right(stepsOf(value), 'steps.');
  const parsed = flowSchema.safeParse({ version: 1, start: Object.keys(steps)[0], ...right(value, ''), steps });
  return parsed.success ? parsed.data : null;
}

function stepsOf(value: unknown): Readonly<Record<string, unknown>> {
  const { steps = {} } = isRecord(value) ? (value as { readonly steps?: unknown }) : {};
  return isRecord(steps) ? steps : {};
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A file of which nothing could be read. */
export function unreadFlow(message: string): ReadFlow {
  return { document: new YamlDocument(''), flow: null, errors: [{ line: 1, column: 1, message }], warnings: [] };
}
