/** Follows FLOWS_DIR: new calls get the flows as their files are now, and a wrong file changes nothing. */
import { join, resolve } from 'node:path';
import { NUMBERS_FILE_MAX_BYTES, NumberBook } from '../../calls/language/numbers-file.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import { ConfigError } from '../../foundation/settings/config.ts';
import { readFileText } from '../../foundation/watched-file.ts';
import type { YamlProblem } from '../../foundation/yaml-document.ts';
import { FileError, placed } from '../../foundation/yaml-text.ts';
import type { RecordingNames } from './check-recordings.ts';
import type { Flow, FlowSet } from './flow.ts';
import { FLOW_FILE_MAX_BYTES, type FolderFiles, findFlowFiles, type MarkedFile, NUMBERS_NAME } from './flow-files.ts';
import { type FlowNumber, parseFlowNumbers } from './flow-numbers.ts';
import { type JudgedFlow, judgeFlows } from './flow-shelf.ts';
import { type ReadFlow, readFlow, unreadFlow } from './read-flow.ts';

/** How often the folder is looked at. */
const LOOK_MS = 2000;

/** A flow's file, and what calls use of it. */
export interface FlowState {
  readonly name: string;
  /** Without the folder. */
  readonly file: string;
  /** What new calls use; null = nothing, as the file was never right. */
  readonly set: FlowSet | null;
  /** Since when new calls use it, as a Unix time in ms; null = never. */
  readonly sinceMs: number | null;
  /** Of the file as it is now; where there are any, it is not used. */
  readonly errors: readonly YamlProblem[];
  readonly warnings: readonly YamlProblem[];
  /** Since when the file as it is now is not used, as a Unix time in ms; null = it is used. */
  readonly refusedSinceMs: number | null;
}

/** What is followed, and who is told. */
export interface FlowFolderOptions {
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** Makes what a flow says, before new calls use it; at the start nobody waits for it. */
  prepare?(set: FlowSet): Promise<void>;
  /** The file of a flow was deleted. Calls that have begun with it go on. */
  onGone?(name: string): void;
}

/** What is in a folder. */
export interface FolderReport {
  readonly flows: readonly FlowState[];
  /** What is wrong with the folder itself and with numbers.yaml, as `path:line:column: message`. */
  readonly others: readonly string[];
  /** Names of files that look as if they were to be flows, and are not read. */
  readonly passedOver: readonly string[];
}

/** A flow between two looks. */
interface Entry {
  readonly marked: MarkedFile;
  /** The file was not there at the last look: an editor may be about to put another in its place. */
  readonly isMissing: boolean;
  readonly read: ReadFlow;
  /** The last version of the file that was right. */
  readonly good: Flow | null;
  readonly state: FlowState;
}

const NOTHING: JudgedFlow = { set: null, good: null, errors: [], warnings: [] };

type Entries = ReadonlyMap<string, Entry>;

/** The flows of a folder, and the numbers that they answer. */
export class FlowFolder {
  readonly #folder: string;
  readonly #options: FlowFolderOptions;
  #timer: Timer | null = null;
  #entries: ReadonlyMap<string, Entry> = new Map();
  #book = new NumberBook<FlowNumber>([]);
  /** What was told of numbers.yaml and of the folder itself, so that it is told once. */
  #numbersMark = '';
  #recordingsMark = '';
  /** Files that look as if they were to be flows. */
  #passedOver: readonly string[] = [];
  #numbersTrouble = '';
  #trouble = '';
  #isLooking = false;

  private constructor(folder: string, options: FlowFolderOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /** @throws ConfigError that names all that is wrong with the files of `folder` */
  static async open(folder: string, options: FlowFolderOptions): Promise<FlowFolder> {
    const opened = new FlowFolder(resolve(folder), options);
    const others = await opened.#readFirst();
    const problems = [...opened.list().flatMap((state) => opened.#told(state, state.errors)), ...others];
    if (problems.length > 0) throw new ConfigError(problems.map((problem) => `FLOWS_DIR: ${problem}`));
    for (const { set } of opened.list()) if (set !== null) void opened.#prepare(set);
    opened.#warn();
    opened.#timer = options.clock.every(LOOK_MS, () => void opened.look(), true);
    return opened;
  }

  /** Looks at `folder` once, for people who write flows: nothing is used, and nothing is followed. */
  static async inspect(folder: string, clock: Clock): Promise<FolderReport> {
    const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const opened = new FlowFolder(folder, { clock, log: quiet });
    const others = await opened.#readFirst();
    return { flows: opened.list(), others, passedOver: opened.#passedOver };
  }

  /** What a new call of that flow keeps; null = there is none. */
  get(name: string): FlowSet | null {
    return this.#entries.get(name)?.state.set ?? null;
  }

  /** The flow of a called number, or of the user of a SIP address, as the carrier told it; null = none. */
  calledAt(told: string | null): FlowSet | null {
    const found = this.#book.find(told);
    return found === null ? null : this.get(found.flow);
  }

  /** In the order of their names. */
  list(): readonly FlowState[] {
    return [...this.#entries.values()].map(({ state }) => state);
  }

  /** Takes over what has changed. Never rejects. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.#take(await findFlowFiles(this.#folder));
      this.#trouble = '';
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== this.#trouble) this.#options.log.error(`FLOWS_DIR cannot be read; its flows stay: ${message}`);
      this.#trouble = message;
    } finally {
      this.#isLooking = false;
    }
  }

  close(): void {
    this.#timer?.cancel();
  }

  /** What is wrong beside what is wrong with each flow. */
  async #readFirst(): Promise<string[]> {
    try {
      const files = await findFlowFiles(this.#folder);
      this.#recordingsMark = markOfRecordings(files.recordings);
      this.#entries = this.#judge(await this.#readAll(files), files.recordings);
      this.#passedOver = files.passedOver;
      await this.#readNumbers(files, new Set(this.#entries.keys()));
      return [];
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return [error.message];
    }
  }

  async #take(files: FolderFiles): Promise<void> {
    const before = this.#entries;
    const read = await this.#readAll(files);
    const recordings = markOfRecordings(files.recordings);
    const isSame =
      recordings === this.#recordingsMark &&
      read.size === before.size &&
      [...read].every(([name, entry]) => before.get(name) === entry);
    this.#recordingsMark = recordings;
    if (!isSame) {
      const entries = this.#judge(read, files.recordings);
      for (const { state } of entries.values()) if (isNew(state, before)) await this.#prepare(state.set);
      this.#entries = entries;
      for (const { state } of entries.values()) this.#tell(state, before.get(state.name)?.state);
      for (const name of before.keys()) if (!entries.has(name)) this.#dropped(name);
    }
    const mark = files.numbers?.mark ?? '';
    if (isSame && mark === this.#numbersMark) return;
    const usable = new Set(this.list().flatMap(({ name, set }) => (set === null ? [] : [name])));
    await this.#readNumbers(files, usable).catch((error: unknown) => {
      if (!(error instanceof FileError)) throw error;
      if (mark !== this.#numbersMark || error.message !== this.#numbersTrouble)
        this.#options.log.error(`numbers of flows cannot be used; those before stay: ${error.message}`);
      this.#numbersTrouble = error.message;
    });
    this.#numbersMark = mark;
  }

  /** The entries of what has not changed are the ones that were there before. */
  async #readAll({ flows }: FolderFiles): Promise<Entries> {
    const entries = new Map<string, Entry>();
    for (const [name, marked] of flows) {
      const before = this.#entries.get(name);
      const isSame = before?.marked.mark === marked.mark;
      const entry = isSame ? before : toEntry(await this.#read(name, marked.file), name, marked, before);
      entries.set(name, entry.isMissing ? { ...entry, isMissing: false } : entry);
    }
    for (const [name, entry] of this.#entries)
      if (!flows.has(name) && !entry.isMissing) entries.set(name, { ...entry, isMissing: true });
    return new Map([...entries].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  }

  async #read(name: string, file: string): Promise<ReadFlow> {
    try {
      return readFlow(await readFileText(join(this.#folder, file), FLOW_FILE_MAX_BYTES), name);
    } catch (error) {
      if (error instanceof FileError) return unreadFlow(error.message);
      throw error;
    }
  }

  #judge(entries: Entries, recordings: RecordingNames): Entries {
    const nowMs = this.#options.clock.wall().getTime();
    const judged = judgeFlows(entries, recordings);
    return new Map(
      [...entries].map(([name, entry]) => {
        const { set, good, errors, warnings } = judged.get(name) ?? NOTHING;
        const before = entry.state;
        const isKept = set === null || set.version === before.set?.version;
        const state: FlowState = {
          ...before,
          set: isKept ? before.set : set,
          sinceMs: isKept ? before.sinceMs : nowMs,
          errors,
          warnings,
          refusedSinceMs: errors.length === 0 ? null : (before.refusedSinceMs ?? nowMs),
        };
        return [name, { ...entry, good, state }];
      }),
    );
  }

  /** @throws FileError when numbers.yaml cannot be used */
  async #readNumbers({ numbers }: FolderFiles, flows: ReadonlySet<string>): Promise<void> {
    const path = join(this.#folder, NUMBERS_NAME);
    const text = numbers === null ? null : await readFileText(path, NUMBERS_FILE_MAX_BYTES);
    this.#book = new NumberBook(text === null ? [] : parseFlowNumbers(text, path, flows));
    this.#numbersMark = numbers?.mark ?? '';
    this.#numbersTrouble = '';
  }

  /** A flow whose prompts cannot be made ahead is used all the same: they are made when they are said. */
  async #prepare(set: FlowSet | null): Promise<void> {
    try {
      if (set !== null) await this.#options.prepare?.(set);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#options.log.error({ flow: set?.name }, `what a flow says could not be made ahead: ${message}`);
    }
  }

  #dropped(name: string): void {
    this.#options.log.info({ flow: name }, 'a flow is gone');
    this.#options.onGone?.(name);
  }

  #tell(state: FlowState, before: FlowState | undefined): void {
    const { log } = this.#options;
    const { name, set } = state;
    const told = this.#told(state, state.errors);
    const isTold = before !== undefined && told.join('\n') === this.#told(before, before.errors).join('\n');
    if (told.length > 0 && !isTold) {
      const stays = set === null ? 'no call can use it' : `version ${set.version} stays`;
      log.error({ flow: name }, `a flow has changed and cannot be used; ${stays}: ${told.join('; ')}`);
    }
    if (set === null || set.version === before?.set?.version) return;
    log.info({ flow: name, version: set.version }, 'new calls use a new version of a flow');
    for (const warning of this.#told(state, state.warnings)) log.warn({ flow: name }, warning);
  }

  #told({ file }: FlowState, problems: readonly YamlProblem[]): string[] {
    return problems.map((problem) => placed(join(this.#folder, file), problem));
  }

  #warn(): void {
    for (const state of this.list())
      for (const warning of this.#told(state, state.warnings)) this.#options.log.warn({ flow: state.name }, warning);
    for (const file of this.#passedOver)
      this.#options.log.warn(`${join(this.#folder, file)}: is not read, expected a name that ends with .yaml`);
  }
}

function markOfRecordings(recordings: RecordingNames): string {
  return JSON.stringify([...recordings].map(([language, names]) => [language, ...names].toSorted()).toSorted());
}

function isNew({ name, set }: FlowState, before: Entries): boolean {
  return set !== null && set.version !== before.get(name)?.state.set?.version;
}

function toEntry(read: ReadFlow, name: string, marked: MarkedFile, before: Entry | undefined): Entry {
  const unused = { name, file: marked.file, set: null, sinceMs: null, errors: [], warnings: [], refusedSinceMs: null };
  return { marked, isMissing: false, read, good: before?.good ?? null, state: before?.state ?? unused };
}
