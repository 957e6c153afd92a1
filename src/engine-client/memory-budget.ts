/**
 * Whether the engine processes of the settings fit in memory. Estimated from the sizes of the models' files: what does
 * not fit would be killed by the system in the middle of calls.
 */
import { totalmem } from 'node:os';
import { resolve } from 'node:path';
import { findInstalledNamed } from '../../engine/models/installed.ts';
import { type ProcessMemory, processMemory } from '../../engine/models/process-memory.ts';
import { NO_FOLDER } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';

const MB = 2 ** 20;
/** What a gateway with many calls needs. */
const GATEWAY_BYTES = 512 * MB;
/** An engine process with nothing but what is in the npm packages, measured (npm run bench -- memory). */
const SMALL_PROCESS: ProcessMemory = { bytes: 200 * MB, sharedBytes: 0 };

/** The settings that decide it. */
export type MemorySettings = Pick<Settings, 'ASR_MODEL' | 'ASR_FINAL_MODEL' | 'MODELS_DIR' | 'ENGINE_MEMORY_BYTES'>;

/** How many processes of each kind are wanted. */
export interface WantedProcesses {
  readonly workers: number;
  readonly finalWorkers: number;
}

/** What they need about, and what there is. */
export interface MemoryNeed {
  readonly neededBytes: number;
  readonly budgetBytes: number;
  /** What would fit, for the operator; null = it fits. */
  readonly problem: string | null;
}

/**
 * The memory of the engine processes. Null where only recognisers of the npm packages are used and no budget was set:
 * those fit where the gateway does.
 */
export function engineMemory(
  settings: MemorySettings,
  { workers, finalWorkers }: WantedProcesses,
  machineBytes: number = machineMemory(),
): MemoryNeed | null {
  const [live, final] = [settings.ASR_MODEL, settings.ASR_FINAL_MODEL].map((name) => memoryOf(name, settings));
  if (live === undefined || final === undefined) return null;
  const isSmall = live === SMALL_PROCESS && final === SMALL_PROCESS;
  if (isSmall && settings.ENGINE_MEMORY_BYTES === 0) return null;
  const budgetBytes = settings.ENGINE_MEMORY_BYTES || Math.max(machineBytes - GATEWAY_BYTES, 0);
  const neededBytes = together(workers, live) + together(finalWorkers, final);
  if (neededBytes <= budgetBytes) return { neededBytes, budgetBytes, problem: null };
  const what =
    finalWorkers === 0 ? describe(workers, live) : `${describe(workers, live)} and ${describe(finalWorkers, final)}`;
  const from = settings.ENGINE_MEMORY_BYTES === 0 ? 'this machine has for them' : 'ENGINE_MEMORY_BYTES allows';
  return {
    neededBytes,
    budgetBytes,
    problem:
      `${what} of the speech engine need about ${inMb(neededBytes)}, ` +
      `more than the ${inMb(budgetBytes)} that ${from}. ` +
      findRemedy({ live, final, budgetBytes, finalWorkers }),
  };
}

/** Bytes of so many processes of one kind. */
function together(count: number, { bytes, sharedBytes }: ProcessMemory): number {
  return count === 0 ? 0 : count * (bytes - sharedBytes) + sharedBytes;
}

interface Sizes {
  readonly live: ProcessMemory;
  readonly final: ProcessMemory;
  readonly budgetBytes: number;
  readonly finalWorkers: number;
}

/** With up to three processes one more reads finals: half as many, rounded down. */
const WITH_ONE_FINAL = 3;

function findRemedy({ live, final, budgetBytes, finalWorkers }: Sizes): string {
  const fewer = countWithin(budgetBytes - together(finalWorkers, final), live);
  if (fewer >= 1) return `ENGINE_WORKERS=${fewer} would fit`;
  const single = countWithin(budgetBytes - final.bytes, live);
  // More of them would bring a second process for finals.
  if (finalWorkers > 0 && single >= 1) return `ENGINE_WORKERS=${Math.min(single, WITH_ONE_FINAL)} would fit`;
  const which = finalWorkers > 0 && final.bytes > live.bytes ? 'ASR_FINAL_MODEL' : 'ASR_MODEL';
  return `Not even one process of each kind would fit: choose a smaller ${which}`;
}

/** How many processes fit into so many bytes. */
function countWithin(bytes: number, { bytes: each, sharedBytes }: ProcessMemory): number {
  return Math.floor((bytes - sharedBytes) / (each - sharedBytes));
}

/** What processes with this recogniser need. */
function memoryOf(setting: string, { MODELS_DIR }: MemorySettings): ProcessMemory {
  const folder = folderOf(setting, MODELS_DIR);
  return folder === null ? SMALL_PROCESS : processMemory(folder);
}

function folderOf(setting: string, modelsDir: string): string | null {
  if (setting.includes('/')) return resolve(setting);
  if (setting === '' || modelsDir === NO_FOLDER) return null;
  return findInstalledNamed(modelsDir, setting)?.folder ?? null;
}

/** Bytes that this process and its children may use. */
function machineMemory(): number {
  const allowed = process.constrainedMemory();
  return allowed > 0 ? Math.min(allowed, totalmem()) : totalmem();
}

function describe(count: number, { bytes, sharedBytes }: ProcessMemory): string {
  const shared = sharedBytes > 0 && count > 1 ? `, ${inMb(sharedBytes)} of it once,` : '';
  return `${count} ${count === 1 ? 'process' : 'processes'} of ${inMb(bytes)}${shared}`;
}

function inMb(bytes: number): string {
  return `${Math.ceil(bytes / MB)} MB`;
}
