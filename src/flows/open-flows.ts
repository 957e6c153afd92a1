/** The flows of a gateway, from its settings. */
import type { CallFlows } from '../calls/app/call-flows.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { CallStart } from '../protocols/dialect.ts';
import type { PromptsAhead } from '../speech/prompts-ahead.ts';
import { RecordingDecoder } from '../speech/recording-decoder.ts';
import { FlowFolder } from './file/flow-folder.ts';
import { FlowPrompts } from './prompts/flow-prompts.ts';
import { FlowCalls } from './run/flow-calls.ts';
import type { FlowWorld } from './verbs/flow-world.ts';
import { STEP_RUNNERS } from './verbs/table.ts';

/** What flows are opened with. */
export interface FlowsOptions {
  readonly settings: Pick<Settings, 'FLOWS_DIR' | 'DEFAULT_LANGUAGE'>;
  /** Makes what flows say before calls need it. */
  readonly ahead: Pick<PromptsAhead, 'keep' | 'make'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Tests say what time it is in a call, and what stands in for what its flow reaches; null = nothing does. */
  readonly worldOf?: ((start: CallStart) => FlowWorld | null) | undefined;
}

/** The flows of FLOWS_DIR, followed as their files change. */
export interface Flows {
  readonly calls: CallFlows;
  readonly folder: FlowFolder;
  readonly prompts: FlowPrompts;
  close(): void;
}

/** Spoken where neither flow nor call nor DEFAULT_LANGUAGE names a language. */
const USUAL_LANGUAGE = 'en-US';

/** @throws ConfigError when a file of FLOWS_DIR cannot be used */
export async function openFlows({ settings, clock, log, ahead, worldOf }: FlowsOptions): Promise<Flows> {
  const { FLOWS_DIR, DEFAULT_LANGUAGE } = settings;
  const usualLanguage = DEFAULT_LANGUAGE === 'auto' ? USUAL_LANGUAGE : DEFAULT_LANGUAGE;
  const decoder = new RecordingDecoder(clock);
  let folder: FlowFolder | null = null;
  const onRecordings = async (): Promise<void> => folder?.look();
  const options = { folder: FLOWS_DIR, ahead, decoder, clock, log, usualLanguage, onRecordings };
  const prompts = await FlowPrompts.open(options);
  const { recordings } = prompts;
  const opened = await openFolder(FLOWS_DIR, { clock, log, prompts });
  folder = opened;
  const usual: FlowWorld = { wall: () => clock.wall() };
  const calls = new FlowCalls(clock, opened, ({ start }) => ({
    runners: STEP_RUNNERS,
    recordings,
    world: worldOf?.(start) ?? usual,
  }));
  const close = (): void => {
    opened.close();
    prompts.close();
  };
  return { calls, folder: opened, prompts, close };
}

async function openFolder(
  path: string,
  { prompts, ...options }: Pick<FlowsOptions, 'clock' | 'log'> & { readonly prompts: FlowPrompts },
): Promise<FlowFolder> {
  try {
    return await FlowFolder.open(path, {
      ...options,
      prepare: (set) => prompts.prepare(set),
      onGone: (name) => prompts.forget(name),
    });
  } catch (error) {
    prompts.close();
    throw error;
  }
}
