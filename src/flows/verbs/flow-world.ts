/** What a flow knows of the world outside of its call: tests give it one of their own. */
import type { FlowValue, FlowValues } from '../file/conditions.ts';

/** A request that a step makes, with all variables filled in. */
export interface FlowRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** Null = none. */
  readonly body: string | null;
}

/** Its answer. */
export interface FlowAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * Stands in for what a flow reaches. All but the time may be left out: then the step does what it does in a real call.
 */
export interface FlowWorld {
  /** The time by which `hours`, dates and templates go. */
  wall(): Date;
  /**
   * Answers a request of `http`, `queueMusic` or `record` in place of the network. Rejects when there is no answer, or
   * none before `signal` aborts.
   */
  readonly request?: (request: FlowRequest, signal: AbortSignal) => Promise<FlowAnswer>;
  /** Resolves with whether whoever `transfer` names took the call; nobody is rung. */
  readonly transfer?: (to: string) => Promise<boolean>;
  /** Messages are taken where nothing keeps sound, too, and are not kept; any words make one. */
  readonly takesMessages?: boolean;
  /** Resolves with what the app handed over, in place of asking one. Rejects when it cannot be reached. */
  readonly app?: (url: string | null, signal: AbortSignal) => Promise<FlowValue>;
  /** Told of each variable that the flow sets, sub-flows too. It must not throw. */
  readonly onSet?: (flow: string, name: string, value: FlowValue) => void;
  /** Variables that the flow begins with, in place of those of its file. */
  readonly variables?: FlowValues;
}
