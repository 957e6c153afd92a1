/** Reads a flow's file. */
import { createHash } from 'node:crypto';
import { describeIssues } from '../../foundation/schema-findings.ts';
import { YamlDocument, type YamlProblem } from '../../foundation/yaml-document.ts';
import type { Flow, FlowLimits, FlowStep } from './flow.ts';
import { type FlowFile, flowSchema } from './flow-file.ts';
import { FLOW_VERBS } from './verbs.ts';

/** Where a file leaves them out. */
const LIMITS: FlowLimits = { steps: 500, visits: 50, timeMs: 1_800_000 };

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
  if (!parsed.success) {
    const reading = { schema: flowSchema, value: document.value, showsTexts: true };
    const errors = describeIssues(parsed.error.issues, reading)
      .map(({ path, message, part }) => document.problemAt(path, message, part))
      .toSorted((one, other) => one.line - other.line || one.column - other.column);
    return { document, flow: null, errors, warnings: [] };
  }
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { document, flow: toFlow(parsed.data, name, sha256), errors: [], warnings: [] };
}

/** A file of which nothing could be read. */
export function unreadFlow(message: string): ReadFlow {
  return { document: new YamlDocument(''), flow: null, errors: [{ line: 1, column: 1, message }], warnings: [] };
}

function toFlow(file: FlowFile, name: string, sha256: string): Flow {
  const steps = Object.entries(file.steps).flatMap(([step, written]) => toStep(step, written) ?? []);
  return {
    name,
    sha256,
    about: file.about ?? '',
    start: file.start,
    language: file.language ?? null,
    voice: file.voice ?? null,
    bargeIn: file.bargeIn ?? 'any',
    keys: new Map(Object.entries(file.keys ?? {})),
    parameters: file.parameters ?? {},
    variables: file.variables ?? {},
    failed: file.failed ?? null,
    failedPrompt: file.failedPrompt ?? null,
    limits: limitsOf(file),
    steps: new Map(steps.map((step) => [step.name, step])),
  };
}

function limitsOf({ limits = {} }: FlowFile): FlowLimits {
  const { steps = LIMITS.steps, visits = LIMITS.visits, timeMs = LIMITS.timeMs } = limits;
  return { steps, visits, timeMs };
}

/** Null = it has no verb. */
function toStep(name: string, written: FlowFile['steps'][string]): FlowStep | null {
  const verb = FLOW_VERBS.find((candidate) => written[candidate] !== undefined);
  if (verb === undefined) return null;
  // That the fields are those of the verb is what the schema says.
  return { name, verb, fields: written[verb], next: written.next ?? null } as FlowStep;
}
