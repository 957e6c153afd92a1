/** Makes a flow of what its file says. */

import { FLOW_VERBS } from '../verbs/table.ts';
import type { Flow, FlowLimits, FlowStep } from './flow.ts';
import type { FlowFile } from './flow-file.ts';

/** Where a file leaves them out. */
const LIMITS: FlowLimits = { steps: 500, visits: 50, timeMs: 1_800_000 };

/** The flow `name`. A step without a verb, which no checked flow has, is left out. */
export function toFlow(file: FlowFile, name: string, sha256: string): Flow {
  const steps = Object.entries(file.steps).flatMap(([step, written]) => toStep(step, written) ?? []);
  return {
    name,
    sha256,
    about: file.about ?? '',
    start: file.start,
    language: file.language ?? null,
    voice: file.voice ?? null,
    timeZone: file.timeZone ?? null,
    currency: file.currency ?? null,
    bargeIn: file.bargeIn ?? 'any',
    keys: new Map(Object.entries(file.keys ?? {})),
    parameters: file.parameters ?? {},
    variables: file.variables ?? {},
    failed: file.failed ?? null,
    fax: file.fax ?? null,
    failedPrompt: file.failedPrompt ?? null,
    limits: limitsOf(file),
    steps: new Map(steps.map((step) => [step.name, step])),
    file,
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
