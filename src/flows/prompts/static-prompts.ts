/**
 * What a flow says that can be made before a call: the texts without values of all its prompts, in the languages and
 * voices in which steps can say them.
 */
import type { PromptText } from '../../speech/prompts-ahead.ts';
import type { Flow, FlowSet, FlowStep } from '../file/flow.ts';
import { exitsOf } from '../file/flow-graph.ts';
import type { FlowPrompt } from '../file/prompts.ts';
import { verbOf } from '../verbs/table.ts';
import { type PromptRecordings, piecesOf } from './prompt-pieces.ts';
import { PromptTextError } from './prompt-text.ts';

/** A prompt, and where it is said. */
export interface PlacedPrompt {
  readonly flow: string;
  /** Null = where a step of the flow fails, and no step follows. */
  readonly step: string | null;
  /** What the step says it for, such as `prompt` or `noMatch 1`. */
  readonly part: string;
  readonly prompt: FlowPrompt;
  readonly language: string;
  /** Null = that of the call. */
  readonly voice: string | null;
}

interface Style {
  readonly language: string | null;
  readonly voice: string | null;
}

/** A step that is reached with what a `language` step has chosen before, and what the calling flow has. */
interface Visit {
  readonly flow: Flow;
  readonly step: FlowStep;
  readonly spoken: Style;
  readonly inherited: Style;
}

const NOTHING: Style = { language: null, voice: null };
/** A flow that changes its language in circles has no more ways to say a step than this. */
const VISITS_MAX = 10_000;
/** Every prompt of a flow and of those that it calls, once for each language and voice in which it can be said. */
export function promptsOf(set: FlowSet, usualLanguage: string): PlacedPrompt[] {
  const found = new Map<string, PlacedPrompt>();
  for (const { flow, step, spoken, inherited } of visitsOf(set)) {
    const language = spoken.language ?? flow.language ?? inherited.language ?? usualLanguage;
    const voice = spoken.voice ?? flow.voice ?? inherited.voice;
    const add = (of: string | null, part: string, prompt: FlowPrompt): void => {
      const key = JSON.stringify([flow.name, of, part, language, voice]);
      found.set(key, { flow: flow.name, step: of, part, prompt, language, voice });
    };
    for (const [part, prompt] of verbOf(step.verb).prompts?.(step.fields) ?? []) add(step.name, part, prompt);
    if (flow.failedPrompt !== null) add(null, 'failedPrompt', flow.failedPrompt);
  }
  return [...found.values()];
}

/** In the order of the files: that of where a step fails last of its flow. */
export function inOrder(prompts: readonly PlacedPrompt[], { flows }: FlowSet): PlacedPrompt[] {
  const places = new Map<string, number>();
  for (const { name, steps } of flows.values())
    for (const step of [...steps.keys(), null]) places.set(JSON.stringify([name, step]), places.size);
  const placeOf = ({ flow, step }: PlacedPrompt): number => places.get(JSON.stringify([flow, step])) ?? places.size;
  return prompts.toSorted((one, other) => placeOf(one) - placeOf(other));
}

/** The texts of prompts that need no values, and of the others what needs none; without those that are recorded. */
export function staticTextsOf(prompts: readonly PlacedPrompt[], recordings: PromptRecordings): PromptText[] {
  const texts = new Map<string, PromptText>();
  for (const { prompt, language, voice } of prompts) {
    const wished = prompt.voice ?? voice;
    for (const text of staticPieces(prompt, language, recordings)) {
      const manner = { ...(wished !== null && { voice: wished, voiceIsWish: true }), speed: prompt.speed };
      texts.set(JSON.stringify([text, language, wished, prompt.speed]), { text, lang: language, ...manner });
    }
  }
  return [...texts.values()];
}

function staticPieces(prompt: FlowPrompt, language: string, recordings: PromptRecordings): string[] {
  try {
    const pieces = piecesOf(prompt, { language, recordings, valueOf: () => null, sayValue: () => '' });
    return pieces.flatMap((piece) => (piece.kind === 'text' && !piece.hasValue ? [piece.text] : []));
  } catch (error) {
    if (error instanceof PromptTextError) return [];
    throw error;
  }
}

function visitsOf(set: FlowSet): Visit[] {
  const visits = new Map<string, Visit>();
  const enter = (flow: Flow, name: string, spoken: Style, inherited: Style): void => {
    const step = flow.steps.get(name);
    const key = JSON.stringify([flow.name, name, spoken, inherited]);
    if (step !== undefined && visits.size < VISITS_MAX && !visits.has(key))
      visits.set(key, { flow, step, spoken, inherited });
  };
  enter(set.main, set.main.start, NOTHING, NOTHING);
  // What is found is looked through in its turn.
  for (const { flow, step, spoken, inherited } of visits.values()) {
    const go = (style: Style): void => {
      for (const target of targetsOf(flow, step)) enter(flow, target, style, inherited);
    };
    if (step.verb === 'language') go({ language: step.fields.to, voice: step.fields.voice ?? null });
    else go(spoken);
    if (step.verb !== 'flow') continue;
    const called = set.flows.get(step.fields.name);
    if (called === undefined) continue;
    const own = { language: flow.language ?? inherited.language, voice: flow.voice ?? inherited.voice };
    enter(called, called.start, spoken, own);
    for (const each of called.steps.values())
      if (each.verb === 'language') go({ language: each.fields.to, voice: each.fields.voice ?? null });
  }
  return [...visits.values()];
}

/** The steps to which one may lead, also by keys that always work, where it fails, and after the last try of it. */
function targetsOf(flow: Flow, step: FlowStep): string[] {
  const { keys, failed, fax } = flow;
  const next = [step.next, failed, fax].filter((target) => target !== null);
  return [...keys.values(), ...next, ...exitsOf(step).map(({ to }) => to)];
}
