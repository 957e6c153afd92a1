/** The flows of a gateway, from its settings. */
import type { CallFlows } from '../calls/app/call-flows.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { CallStart } from '../protocols/dialect.ts';
import { FlowFolder } from './file/flow-folder.ts';
import type { PromptRecordings } from './prompts/prompt-pieces.ts';
import { FlowCalls } from './run/flow-calls.ts';
import type { FlowWorld } from './steps/flow-world.ts';
import { STEP_RUNNERS } from './steps/step-runners.ts';

/** What flows are opened with. */
export interface FlowsOptions {
  readonly settings: Pick<Settings, 'FLOWS_DIR'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Tests say what time it is in a call, and what stands in for what its flow reaches; null = nothing does. */
  readonly worldOf?: ((start: CallStart) => FlowWorld | null) | undefined;
}

/** The flows of FLOWS_DIR, followed as their files change. */
export interface Flows {
  /** Null = FLOWS_DIR is not set. */
  readonly calls: CallFlows | null;
  readonly folder: FlowFolder | null;
  close(): void;
}

/** Nothing is recorded. */
const NO_RECORDINGS: PromptRecordings = { find: () => null };

/** @throws ConfigError when a file of FLOWS_DIR cannot be used */
export async function openFlows({ settings, clock, log, worldOf }: FlowsOptions): Promise<Flows> {
  if (settings.FLOWS_DIR === '') return { calls: null, folder: null, close: () => undefined };
  const folder = await FlowFolder.open(settings.FLOWS_DIR, { clock, log });
  const usual: FlowWorld = { wall: () => clock.wall() };
  const calls = new FlowCalls(folder, ({ start }) => ({
    runners: STEP_RUNNERS,
    recordings: NO_RECORDINGS,
    world: worldOf?.(start) ?? usual,
  }));
  return { calls, folder, close: () => folder.close() };
}
