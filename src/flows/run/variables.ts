/** The variables of a flow that is under way. */
import { ANSWERED_BY, type FlowCondition, type FlowValue, type FlowValues } from '../file/conditions.ts';
import type { Variables } from '../verbs/step.ts';
import { isTrueOf } from './conditions.ts';

/** Longer texts are cut: what servers and callers give ends up here. */
export const TEXT_MAX_CHARS = 10_000;
/** A flow names its variables, so that there are few; what is handed over by others may have any. */
const VARIABLES_MAX = 2000;

const CALL = 'call.';
/** `{{`, `}}`, `{name}` and `{name:format}`. */
const PLACES = /\{\{|\}\}|\{([A-Za-z][\w-]{0,63}(?:\.[A-Za-z][\w-]{0,63})?)(?::[a-z]+)?\}/g;

interface VariablesOptions {
  readonly initial: FlowValues;
  /** The value of `call.<name>`, or of `answered.by`; null = there is none. */
  ofCall(name: string): FlowValue;
  /** A variable has another value. */
  onSet?(name: string, value: FlowValue): void;
}

export class FlowVariables implements Variables {
  readonly #options: VariablesOptions;
  readonly #values: Map<string, FlowValue>;

  constructor(options: VariablesOptions) {
    this.#options = options;
    this.#values = new Map(Object.entries(options.initial));
  }

  get(name: string): FlowValue {
    if (name.startsWith(CALL)) return this.#options.ofCall(name.slice(CALL.length));
    if (name === ANSWERED_BY) return this.#options.ofCall(name);
    return this.#values.get(name) ?? null;
  }

  /** Those of the call stay as they are. */
  set(name: string, value: FlowValue): void {
    if (
      name.startsWith(CALL) ||
      name === ANSWERED_BY ||
      (this.#values.size >= VARIABLES_MAX && !this.#values.has(name))
    )
      return;
    const kept = typeof value === 'string' ? value.slice(0, TEXT_MAX_CHARS) : value;
    this.#values.set(name, kept);
    this.#options.onSet?.(name, kept);
  }

  fill(text: string): string {
    const filled = text.replace(PLACES, (place, name: string | undefined) => {
      if (name === undefined) return place.charAt(0);
      const value = this.get(name);
      return value === null ? '' : String(value);
    });
    return filled.slice(0, TEXT_MAX_CHARS);
  }

  isTrue(condition: FlowCondition): boolean {
    return isTrueOf(this.get(condition.variable), condition);
  }

  all(): FlowValues {
    return Object.fromEntries(this.#values);
  }
}

/**
 * What a flow begins with: its variables, its parameters, and what is given of these. A text that is given in place of
 * a number, or of true and false, becomes one where it reads so.
 */
export function initialValues(
  { variables, parameters }: { readonly variables: FlowValues; readonly parameters: FlowValues },
  given: (name: string) => FlowValue | undefined,
): FlowValues {
  const taken = Object.entries(parameters).map(([name, usual]) => {
    const value = given(name);
    return [name, value === undefined ? usual : likeUsual(value, usual)] as const;
  });
  return { ...variables, ...Object.fromEntries(taken) };
}

function likeUsual(value: FlowValue, usual: FlowValue): FlowValue {
  if (typeof value !== 'string' || typeof usual === 'string' || usual === null) return value;
  const text = value.trim();
  if (typeof usual === 'boolean') return text === 'true' || (text === 'false' ? false : value);
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : value;
}
