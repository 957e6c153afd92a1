import type { ReadyMessage } from '../../engine/contract.ts';
import type { RecogniserAbilities } from '../../engine/recogniser-abilities.ts';

/** A recogniser that was ready. */
export interface RecogniserInfo {
  readonly name: string;
  /** BCP-47, first the one that is assumed. */
  readonly languages: readonly string[];
  readonly abilities: RecogniserAbilities;
  /** SPDX identifier, or the licence's own name; null = not known. */
  readonly licence: string | null;
}

/** How the engines are, for people and health checks. */
export interface EngineStatus {
  readonly state: 'stopped' | 'starting' | 'ready' | 'failed';
  /** Engines that can take work, of `workers` wanted. */
  readonly ready: number;
  readonly workers: number;
  /** Where models run, and which; null until an engine was ready. */
  readonly provider: ReadyMessage['provider'] | null;
  /** Where the engines that are ready run, each device once: `cpu`, `cuda:0`. */
  readonly devices: readonly string[];
  readonly models: Readonly<Record<'asr' | 'vad' | 'tts', string>> | null;
  /** Null until an engine was ready. */
  readonly recogniser: RecogniserInfo | null;
  readonly pids: readonly number[];
  /** Those with the second recogniser alone; null where there is none. */
  readonly final: Pick<EngineStatus, 'state' | 'ready' | 'workers' | 'recogniser'> | null;
}

/** What people call a device; the number is that of the GPU. */
export function nameDevice(provider: ReadyMessage['provider'], cudaDevice: number): string {
  return provider === 'cuda' ? `cuda:${cudaDevice}` : 'cpu';
}
