/** How the engines are, one by one, for people who look after them. */
import type { RecogniserRole, Urgency } from '../../engine/contract.ts';

/** One engine process, or the place of one that does not run. Times of day are wall-clock times. */
export interface EngineReport {
  /** What its recogniser reads. */
  readonly role: RecogniserRole;
  /** `silent`: it has work and gives no sign of life. */
  readonly state: 'stopped' | 'starting' | 'ready' | 'silent';
  readonly pid: number | null;
  /** What its recogniser runs on: `cpu`, or `cuda:` and the number of the GPU; null = it is not ready. */
  readonly device: string | null;
  /** Share of its time that model runs took over the last 5 s, 0 to 1. */
  readonly busyShare: number;
  /** Jobs that it has and has not answered. */
  readonly jobs: number;
  /** Times that it died or hung and was started again. */
  readonly restarts: number;
  readonly lastRestart: { readonly at: Date; readonly reason: string } | null;
}

/** Jobs of one urgency: those that no engine has yet, and those that engines have. */
export interface QueueReport {
  readonly urgency: Urgency;
  readonly waiting: number;
  readonly assigned: number;
}

/** One server of ASR_URL or TTS_URL. Times are those of its last answers to calls; of voices, to their first sounds. */
export interface ServerReport {
  readonly setting: 'ASR_URL' | 'TTS_URL';
  /** Without credentials and query. */
  readonly url: string;
  /** What it speaks: the scheme of the URL. */
  readonly protocol: string;
  /** Of its breaker: `open` = it failed and is left alone; `half_open` = a request tries whether it is back, or may. */
  readonly state: 'closed' | 'open' | 'half_open';
  /** Requests under way. */
  readonly inFlight: number;
  /** Requests that it may have at once now; fewer than were allowed after it said that it was busy. */
  readonly inFlightMax: number;
  /** Null = too few answers came. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** Null = none failed since the start. Its message repeats nothing that was sent or answered. */
  readonly lastError: { readonly at: Date; readonly message: string } | null;
  /** BCP-47; empty = of a recogniser what ASR_MODEL understands. */
  readonly languages: readonly string[];
}

/** All engines of a gateway. */
export interface EnginesReport {
  readonly engines: readonly EngineReport[];
  /** Of every urgency, the most urgent first. */
  readonly queue: readonly QueueReport[];
  /** In the order of the settings. */
  readonly servers: readonly ServerReport[];
}
