/** What a flow's step can do: a verb, all of it in one file of this folder, and a line in `table.ts`. */
import type { z } from 'zod';
import type { YamlPath } from '../../foundation/yaml-document.ts';
import type { FlowFinding } from '../file/flow-finding.ts';
import type { FlowPrompt } from '../file/prompts.ts';
import type { StepExit, StepTools } from './step.ts';

/** Why a flow leaves a step: each is a key of the step's fields. */
export type ExitReason =
  | 'next'
  | 'choice'
  | 'yes'
  | 'no'
  | 'when'
  | 'else'
  | 'open'
  | 'closed'
  | 'holiday'
  | 'noInput'
  | 'noMatch'
  | 'failed'
  | 'empty'
  | 'timedOut'
  | 'busy'
  | 'noAnswer';

/** One way out of a step. */
export interface FlowExit {
  readonly reason: ExitReason;
  /** A step, or `end`, `back`, `repeat`. */
  readonly to: string;
  /** What leads there: the name of a choice with its key, or a condition; null = the reason says it all. */
  readonly detail: string | null;
  /** Where the target stands inside of the step; null = nowhere: a step without `next` ends its flow. */
  readonly path: YamlPath | null;
}

/** A prompt of a step, and what it is said for: `prompt`, `noMatch 1`. */
export type PlacedWords = readonly [part: string, prompt: FlowPrompt];

/** One verb. `Schema` reads what stands behind it. What a verb leaves out it has not, or is as most are. */
export interface Verb<Schema extends z.ZodType = z.ZodType> {
  /** For editors and the reference, by its description. */
  readonly schema: Schema;
  /**
   * `no time`: round and round of such steps would never end. `caller`: the caller, or somebody else, ends it or can.
   * `time`: what is said and played.
   */
  readonly takes: 'no time' | 'time' | 'caller';
  /** What stands around its name in a Mermaid drawing. */
  readonly shape?: readonly [string, string];
  /** It asks the caller something: `back` leads here, and it is asked again after somebody took the call over. */
  readonly isQuestion?: true;
  /** The ways out that it has beside `next`; paths are those inside of its fields. */
  exits?(fields: z.infer<Schema>): FlowExit[];
  /** Whether what stands under `next`, or the flow's end, may come after it; left out = it may. */
  goesOn?(fields: z.infer<Schema>): boolean;
  /** Every prompt that it says. */
  prompts?(fields: z.infer<Schema>): PlacedWords[];
  /** What it says first, for drawings and lists, where that is not the text of its first prompt. */
  says?(fields: z.infer<Schema>): string | null;
  /** What the schema cannot see. `path` = where the fields stand, `next` = the step's. */
  check?(fields: z.infer<Schema>, path: YamlPath, next: string | null): FlowFinding[];
  /** Whether a caller who is not understood, or says nothing, leaves it by none of its ways out. */
  leavesUnanswered?(fields: z.infer<Schema>): boolean;
  /** Where it says itself that the flow goes on when it cannot be done; null or left out = nowhere. */
  exitWithout?(fields: z.infer<Schema>, error: unknown, next: string | null): string | null;
  /** Does it. Rejects with a StepFailure when it cannot be done. Left out = the flow itself does it. */
  run?(fields: z.infer<Schema>, tools: StepTools): Promise<StepExit>;
}

/** `verb`, whose schema says what its fields are. */
export function defineVerb<Schema extends z.ZodType>(verb: Verb<Schema>): Verb<Schema> {
  return verb;
}

/** One way out, where it is given. */
export function exit(
  reason: ExitReason,
  to: string | undefined,
  path: YamlPath = [reason],
  detail: string | null = null,
): FlowExit[] {
  return to === undefined ? [] : [{ reason, to, detail, path }];
}

/** The prompts of one part of a step, numbered where there are several. */
export function wordsFor(part: string, prompts: readonly FlowPrompt[] = []): PlacedWords[] {
  return prompts.map((prompt, index) => [prompts.length > 1 ? `${part} ${index + 1}` : part, prompt]);
}

/** The words of one prompt, where there is one. */
export function promptOf({ prompt }: { readonly prompt?: FlowPrompt | undefined }): PlacedWords[] {
  return prompt === undefined ? [] : [['prompt', prompt]];
}
