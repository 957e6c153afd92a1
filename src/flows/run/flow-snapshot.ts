/**
 * Where a flow is, as plain data: what another process, or a call that comes back from a transfer, needs to go on with
 * it. A step that is under way begins anew.
 */
import { z } from 'zod';
import { valueSchema } from '../file/conditions.ts';
import type { FlowSet } from '../file/flow.ts';

/** Raised with each change that an older reader would misread. */
const VERSION = 1;

const frameSchema = z.strictObject({
  flow: z.string(),
  values: z.record(z.string(), valueSchema),
  at: z.string().nullable().describe('The step; null = the flow is at its end'),
  isFailing: z.boolean(),
});

const snapshotSchema = z.strictObject({
  version: z.literal(VERSION),
  flow: z.string(),
  flowVersion: z.string(),
  frames: z.array(frameSchema).max(100).describe('The flows that are under way, the outermost first'),
  spoken: z
    .strictObject({ language: z.string().nullable(), voice: z.string().nullable() })
    .describe('What a `language` step has chosen'),
  asked: z.array(z.strictObject({ depth: z.int().min(0), step: z.string() })).max(1000),
  visits: z.record(z.string(), z.int().min(0)),
  steps: z.int().min(0).describe('Taken before, in all'),
  elapsedMs: z.number().min(0),
  by: z.enum(['key', 'fax', 'failed']).nullable().describe('What led to the step, where the one before did not'),
});

/** The state of a flow, as JSON has it. */
export type FlowSnapshot = Readonly<z.infer<typeof snapshotSchema>>;

/** `state` with what every snapshot says of its flow. */
export function snapshotOf(set: FlowSet, state: Omit<FlowSnapshot, 'version' | 'flow' | 'flowVersion'>): FlowSnapshot {
  return { version: VERSION, flow: set.name, flowVersion: set.version, ...state };
}

/**
 * A state that was kept as JSON, for the flow `set`.
 * @throws RangeError when it is none, is one of another version of this program, or is one of another flow
 */
export function readFlowSnapshot(json: string, set: FlowSet): FlowSnapshot {
  const { success, data, error } = snapshotSchema.safeParse(JSON.parse(json));
  if (!success) throw new RangeError(`the state of a flow cannot be read: ${z.prettifyError(error)}`);
  const found = `${data.flow} ${data.flowVersion}`;
  if (found !== `${set.name} ${set.version}`)
    throw new RangeError(`the state is one of the flow ${found}, expected one of ${set.name} ${set.version}`);
  const unknown = data.frames.find(({ flow, at }) => at !== null && !set.flows.get(flow)?.steps.has(at));
  if (unknown !== undefined) throw new RangeError(`the flow ${unknown.flow} has no step ${unknown.at}`);
  return data;
}
