/** Calls that follow the files of FLOWS_DIR. */
import type { Part } from '../parts/part.ts';
import type { CallStart } from '../protocols/dialect.ts';
import type { FlowWorld } from './verbs/flow-world.ts';

/**
 * The part: its routes are always there, the flows where FLOWS_DIR is set. Tests say by `worldOf` what time it is in a
 * call, and what stands in for what its flow reaches; null, or left out = nothing does.
 */
export function flowsPart(worldOf?: (start: CallStart) => FlowWorld | null): Part {
  return { name: 'flows', open: async (services) => (await import('./open.ts')).openFlowsPart(services, worldOf) };
}

/** As it is. */
export const flows: Part = flowsPart();
