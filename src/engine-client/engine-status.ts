import type { ReadyMessage } from '../../engine/contract.ts';

/** How the engines are, for people and health checks. */
export interface EngineStatus {
  readonly state: 'stopped' | 'starting' | 'ready' | 'failed';
  /** Engines that can take work, of `workers` wanted. */
  readonly ready: number;
  readonly workers: number;
  /** Where models run, and which; null until an engine was ready. */
  readonly provider: ReadyMessage['provider'] | null;
  readonly models: { readonly asr: string; readonly vad: string; readonly tts: string } | null;
  readonly pids: readonly number[];
}
