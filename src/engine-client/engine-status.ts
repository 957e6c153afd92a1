import type { ReadyMessage } from '../../engine/contract.ts';

/** How the engines are, for people and health checks. */
export interface EngineStatus {
  readonly state: 'stopped' | 'starting' | 'ready' | 'failed';
  /** Engines that can take work, of `workers` wanted. */
  readonly ready: number;
  readonly workers: number;
  /** Where models run, and which; null until an engine was ready. */
  readonly provider: ReadyMessage['provider'] | null;
  readonly models: Readonly<Record<'asr' | 'vad' | 'tts', string>> | null;
  readonly pids: readonly number[];
}
