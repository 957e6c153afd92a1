/** Values as the steps of a flow write them: texts in them may hold variables. */
import type { FlowValue, FlowValues } from '../file/conditions.ts';
import type { Variables } from './step.ts';

const WHOLE = /^\{([A-Za-z][\w-]{0,63}(?:\.[A-Za-z][\w-]{0,63})?)\}$/;

/** A value as a flow writes it: of a text that is one variable alone the variable's own, else the text filled in. */
export function resolveValue(written: FlowValue, variables: Pick<Variables, 'get' | 'fill'>): FlowValue {
  if (typeof written !== 'string') return written;
  const name = WHOLE.exec(written)?.[1];
  return name === undefined ? variables.fill(written) : variables.get(name);
}

/** What a step hands over to whoever has the call next: a text, or values as JSON; null = nothing. */
export function handoffText(
  written: string | FlowValues | undefined,
  variables: Pick<Variables, 'get' | 'fill'>,
): string | null {
  if (written === undefined) return null;
  if (typeof written === 'string') return variables.fill(written);
  const values = Object.entries(written).map(([name, value]) => [name, resolveValue(value, variables)] as const);
  return JSON.stringify(Object.fromEntries(values));
}
