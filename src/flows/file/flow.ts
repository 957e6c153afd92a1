/** A flow that was read and checked, and the flows that a call keeps. */

import type { FlowVerb, VerbFields } from '../verbs/table.ts';
import type { FlowValues } from './conditions.ts';
import type { FlowFile } from './flow-file.ts';
import type { FlowBargeIn, FlowPrompt } from './prompts.ts';

/** A step that does `Verb`. */
export interface StepOf<Verb extends FlowVerb> {
  readonly name: string;
  readonly verb: Verb;
  readonly fields: VerbFields[Verb];
  /** A step or `end`, `back`, `repeat`; null = the flow ends here, unless the step itself says where it goes on. */
  readonly next: string | null;
}

/** A step of a flow: `verb` says what its `fields` are. */
export type FlowStep = { [Verb in FlowVerb]: StepOf<Verb> }[FlowVerb];

/** A flow, with the values of what its file leaves out. */
export interface Flow {
  /** Of its file, without `.yaml`. */
  readonly name: string;
  /** Of its file, in hexadecimal. */
  readonly sha256: string;
  readonly about: string;
  readonly start: string;
  /** Null = that of the call. */
  readonly language: string | null;
  /** Null = that of the call. */
  readonly voice: string | null;
  /** Of its callers (IANA); null = that of the flow that calls it, or UTC. */
  readonly timeZone: string | null;
  /** Of amounts that name none, such as EUR; null = that of the flow that calls it, or none. */
  readonly currency: string | null;
  readonly bargeIn: FlowBargeIn;
  /** Where keys lead that work wherever no question takes them. */
  readonly keys: ReadonlyMap<string, string>;
  /** What a flow that calls this one may give, with the values of what it does not give. */
  readonly parameters: FlowValues;
  readonly variables: FlowValues;
  /** The step that follows when one cannot be done; null = none. */
  readonly failed: string | null;
  /** The step that follows when the far party is a fax machine; null = none. */
  readonly fax: string | null;
  /** Said when a step cannot be done and no step follows; null = nothing. */
  readonly failedPrompt: FlowPrompt | null;
  readonly limits: FlowLimits;
  readonly steps: ReadonlyMap<string, FlowStep>;
  /** As it is written. */
  readonly file: FlowFile;
}

/** What ends a flow that does not end by itself. */
export interface FlowLimits {
  /** Steps in one call. */
  readonly steps: number;
  /** Of one step in one call. */
  readonly visits: number;
  readonly timeMs: number;
}

/** A flow with all that it calls: what a call keeps, whatever becomes of the files. */
export interface FlowSet {
  /** Of the flow that calls begin with. */
  readonly name: string;
  /** The first 8 hexadecimal digits of SHA-256 over the files. */
  readonly version: string;
  readonly main: Flow;
  /** By name; `main` is among them. */
  readonly flows: ReadonlyMap<string, Flow>;
}

/** Targets that are no steps. */
export const RESERVED_TARGETS: readonly string[] = ['end', 'back', 'repeat'];
