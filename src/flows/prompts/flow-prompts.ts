/** The prompts of all flows: what is recorded, and what is made before calls need it. */
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { AheadReport, PromptsAhead } from '../../speech/prompts-ahead.ts';
import type { RecordingDecoder } from '../../speech/recording-decoder.ts';
import type { FlowSet } from '../file/flow.ts';
import { RecordingFolder } from './recording-folder.ts';
import { type PlacedPrompt, promptsOf, staticTextsOf } from './static-prompts.ts';

interface FlowPromptsOptions {
  /** FLOWS_DIR */
  readonly folder: string;
  readonly ahead: Pick<PromptsAhead, 'keep' | 'make'>;
  readonly decoder: Pick<RecordingDecoder, 'decode'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'error'>;
  /** In which flows speak that name no language, to callers whose language nobody knows. */
  readonly usualLanguage: string;
}

export class FlowPrompts {
  readonly recordings: RecordingFolder;
  readonly #options: FlowPromptsOptions;
  /** By the name of the flow. */
  readonly #sets = new Map<string, FlowSet>();

  private constructor(options: FlowPromptsOptions, recordings: RecordingFolder) {
    this.#options = options;
    this.recordings = recordings;
  }

  /** Resolves when the recordings have been read. Never rejects. */
  static async open(options: FlowPromptsOptions): Promise<FlowPrompts> {
    const { folder, clock, log, decoder } = options;
    let opened: FlowPrompts | null = null;
    const onChange = (): void => opened?.onRecordings();
    const recordings = await RecordingFolder.open(folder, { clock, log, decoder, onChange });
    opened = new FlowPrompts(options, recordings);
    return opened;
  }

  close(): void {
    this.recordings.close();
  }

  /** Makes what a flow says and keeps it. Resolves when it is there. Never rejects. */
  async prepare(set: FlowSet): Promise<void> {
    this.#sets.set(set.name, set);
    this.#keep(set);
    await this.#options.ahead.make(ownerOf(set));
  }

  /** The same for all flows; `onText` is told of each text that is done. */
  async renderAll(onText?: (done: number, all: number) => void): Promise<AheadReport[]> {
    const reports: AheadReport[] = [];
    for (const set of this.#sets.values()) reports.push(await this.#options.ahead.make(ownerOf(set), onText));
    return reports;
  }

  /** What is recorded has changed: what it replaces need not be kept, and what it replaced is said again. */
  onRecordings(): void {
    for (const set of this.#sets.values()) void this.prepare(set);
  }

  /** All that flows say, in the order of flows and steps; what several flows share is there once. */
  list(): PlacedPrompt[] {
    const { usualLanguage } = this.#options;
    const found = new Map<string, PlacedPrompt>();
    for (const set of this.#sets.values())
      for (const placed of promptsOf(set, usualLanguage)) found.set(JSON.stringify(placed), placed);
    return [...found.values()];
  }

  #keep(set: FlowSet): void {
    const { ahead, usualLanguage } = this.#options;
    ahead.keep(ownerOf(set), staticTextsOf(promptsOf(set, usualLanguage), this.recordings));
  }
}

function ownerOf({ name }: FlowSet): string {
  return `flow ${name}`;
}
