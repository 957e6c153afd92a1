/** The prompts of all flows: what is recorded, and what is made before calls need it. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { PromptsAhead } from '../../speech/prompts-ahead.ts';
import type { RecordingDecoder } from '../../speech/recording-decoder.ts';
import type { SentenceSynthesizer } from '../../speech/sentence-synthesizer.ts';
import type { MonoAudio } from '../../speech/wav-leveller.ts';
import type { FlowSet } from '../file/flow.ts';
import type { PromptRecordings } from './prompt-pieces.ts';
import { soundOf } from './prompt-sound.ts';
import { RecordingFolder } from './recording-folder.ts';
import { inOrder, type PlacedPrompt, promptsOf, staticTextsOf } from './static-prompts.ts';

interface FlowPromptsOptions {
  /** FLOWS_DIR */
  readonly folder: string;
  readonly ahead: Pick<PromptsAhead, 'keep' | 'make'>;
  readonly decoder: Pick<RecordingDecoder, 'decode'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'error'>;
  /** In which flows speak that name no language, to callers whose language nobody knows. */
  readonly usualLanguage: string;
  /** What is recorded has changed: what is said of flows may change with it. It must not reject. */
  onRecordings?(): Promise<void>;
}

/** How far it is to make what all flows say. */
export interface Rendering {
  isRunning: boolean;
  readonly flows: number;
  flowsDone: number;
  /** Of the flows that are done, in each codec. */
  sentences: number;
  /** Of them those that were not there. */
  made: number;
  /** Texts that could not be made. */
  failed: number;
  ms: number;
}

/** A prompt with its name in lists. */
export interface ListedFlowPrompt extends PlacedPrompt {
  readonly id: string;
  /** `recorded` = a recording is played; `values` = a part of it is made in each call, with values of variables. */
  readonly source: 'recorded' | 'made' | 'values';
}

const ID_CHARS = 32;

export class FlowPrompts {
  readonly recordings: RecordingFolder;
  readonly #options: FlowPromptsOptions;
  /** By the name of the flow. */
  readonly #sets = new Map<string, FlowSet>();
  #rendering: Rendering | null = null;

  private constructor(options: FlowPromptsOptions, recordings: RecordingFolder) {
    this.#options = options;
    this.recordings = recordings;
  }

  /** Resolves when the recordings have been read. Never rejects. */
  static async open(options: FlowPromptsOptions): Promise<FlowPrompts> {
    const { folder, clock, log, decoder } = options;
    let opened: FlowPrompts | null = null;
    const onChange = async (): Promise<void> => opened?.onRecordings();
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

  /** A flow is gone: what it says need not be kept. */
  forget(name: string): void {
    this.#sets.delete(name);
    this.#options.ahead.keep(ownerOf({ name }), []);
  }

  /** How far {@link render} is; null = it was never asked for. */
  get rendering(): Rendering | null {
    return this.#rendering;
  }

  /** Makes what is missing of all flows, unless that is under way. */
  render(): Rendering {
    if (this.#rendering?.isRunning !== true) {
      this.#rendering = {
        isRunning: true,
        flows: this.#sets.size,
        flowsDone: 0,
        sentences: 0,
        made: 0,
        failed: 0,
        ms: 0,
      };
      void this.#renderAll(this.#rendering);
    }
    return this.#rendering;
  }

  async #renderAll(rendering: Rendering): Promise<void> {
    const { ahead, clock } = this.#options;
    const startMs = clock.nowMs();
    for (const set of [...this.#sets.values()]) {
      const { sentences, made, failed } = await ahead.make(ownerOf(set));
      rendering.flowsDone++;
      rendering.sentences += sentences;
      rendering.made += made;
      rendering.failed += failed;
      rendering.ms = Math.round(clock.nowMs() - startMs);
    }
    rendering.isRunning = false;
  }

  /** What is recorded has changed: what it replaces need not be kept, and what it replaced is said again. */
  async onRecordings(): Promise<void> {
    for (const set of this.#sets.values()) void this.prepare(set);
    await this.#options.onRecordings?.();
  }

  /** All that flows say, in the order of flows and steps; what several flows share is there once. */
  list(): ListedFlowPrompt[] {
    const { usualLanguage } = this.#options;
    const found = new Map<string, ListedFlowPrompt>();
    for (const set of this.#sets.values()) {
      for (const placed of inOrder(promptsOf(set, usualLanguage), set)) {
        const id = idOf(placed);
        found.set(id, { ...placed, id, source: sourceOf(placed, this.recordings) });
      }
    }
    return [...found.values()];
  }

  /** How a prompt sounds in a call, values by the names of their variables; null = there is none of that id. */
  async sound(id: string, synthesizer: SentenceSynthesizer, signal: AbortSignal): Promise<MonoAudio | null> {
    const placed = this.list().find((each) => each.id === id);
    return placed === undefined ? null : soundOf(placed, { recordings: this.recordings, synthesizer, signal });
  }

  #keep(set: FlowSet): void {
    const { ahead, usualLanguage } = this.#options;
    ahead.keep(ownerOf(set), staticTextsOf(promptsOf(set, usualLanguage), this.recordings));
  }
}

function ownerOf({ name }: Pick<FlowSet, 'name'>): string {
  return `flow ${name}`;
}

function idOf({ flow, step, part, language, voice }: PlacedPrompt): string {
  const parts = JSON.stringify([flow, step, part, language, voice]);
  return createHash('sha256').update(parts).digest('hex').slice(0, ID_CHARS);
}

function sourceOf({ prompt, language }: PlacedPrompt, recordings: PromptRecordings): ListedFlowPrompt['source'] {
  if (prompt.recording !== undefined && recordings.find(prompt.recording, language) !== null) return 'recorded';
  return /\{(?!\{)/.test(prompt.text?.replaceAll('{{', '') ?? '') ? 'values' : 'made';
}
