/** Whether the conditions of a flow are true. */
import type { FlowCondition, FlowValue } from '../file/conditions.ts';

type Ordered = NonNullable<FlowCondition['above']>;

/** Whether all that `condition` names is true of `value`, that of its variable. */
export function isTrueOf(value: FlowValue, condition: FlowCondition): boolean {
  const { is, isNot, oneOf, contains, startsWith, above, below, atLeast, atMost, isSet } = condition;
  const text = textOf(value);
  return (
    (is === undefined || isSame(value, is)) &&
    (isNot === undefined || !isSame(value, isNot)) &&
    (oneOf === undefined || oneOf.some((one) => isSame(value, one))) &&
    (contains === undefined || text.includes(contains.toLowerCase())) &&
    (startsWith === undefined || text.startsWith(startsWith.toLowerCase())) &&
    (above === undefined || holds(value, above, (order) => order > 0)) &&
    (below === undefined || holds(value, below, (order) => order < 0)) &&
    (atLeast === undefined || holds(value, atLeast, (order) => order >= 0)) &&
    (atMost === undefined || holds(value, atMost, (order) => order <= 0)) &&
    (isSet === undefined || isSet === (value !== null && value !== ''))
  );
}

/** YAML reads `is: 1` as a number, and keys are texts: what is written the same is the same. */
function isSame(value: FlowValue, other: FlowValue): boolean {
  if (value === null || other === null) return value === other;
  return textOf(value) === textOf(other);
}

function textOf(value: FlowValue): string {
  return value === null ? '' : String(value).trim().toLowerCase();
}

/** Times and dates are written so that they sort as texts. */
function holds(value: FlowValue, limit: Ordered, fits: (order: number) => boolean): boolean {
  if (typeof limit === 'number') {
    const number = numberOf(value);
    return number !== null && fits(number - limit);
  }
  const text = textOf(value);
  if (shapeOf(text) !== shapeOf(limit)) return false;
  return fits(text < limit ? -1 : Number(text > limit));
}

const NUMBER = /^(?:[a-z]{3} )?(-?\d+(?:\.\d+)?)$/;

/** Of a row of digits and of an amount such as `EUR 12.50`, too. */
function numberOf(value: FlowValue): number | null {
  if (typeof value === 'number') return value;
  const found = typeof value === 'string' ? NUMBER.exec(textOf(value)) : null;
  return found === null ? null : Number(found[1]);
}

/** `14:30` and `09:15` have one, `2026-11-23` has another. */
function shapeOf(text: string): string {
  return text.replace(/\d/g, '0');
}
