import { StepFailure, type Variables } from './step.ts';

const PLACE = /\{\{|\}\}|\{[^{}]*\}/g;
/** Stands where a value stands, and moves nothing. */
const HARMLESS = 'x';
/** `/a/.` and `/a/..` end in an empty part, as `/a/` does. */
const DOTS_AT_THE_END = /[/\\](?:\.|%2e){1,2}(?:[?#]|$)/i;

/**
 * A URL as a flow writes it, with the values of its variables. They are escaped, but for one that it begins with, which
 * is the author's address of a server. What callers say or are called must lead to no other path: `.` and `..` need no
 * escaping and climb, and what is empty joins its neighbours on many servers.
 * @throws StepFailure when it is no URL, or its values change which path it is
 */
export function fillUrl(written: string, variables: Pick<Variables, 'fill'>): string {
  const filled = fillPlaces(written, variables, (value) => encodeURIComponent(value.toWellFormed()));
  const harmless = fillPlaces(written, variables, () => HARMLESS);
  if (!URL.canParse(filled)) throw new StepFailure('its URL is none, with the values of its variables');
  const mayEndEmpty = !DOTS_AT_THE_END.test(filled);
  if (URL.canParse(harmless) && !isSamePath(new URL(filled).pathname, new URL(harmless).pathname, mayEndEmpty))
    throw new StepFailure('a value in the path of its URL is empty or made of dots, which leads to another path');
  return filled;
}

function fillPlaces(written: string, variables: Pick<Variables, 'fill'>, write: (value: string) => string): string {
  return written.replace(PLACE, (place, at: number) => {
    const value = variables.fill(place);
    return at === 0 || place === '{{' || place === '}}' ? value : write(value);
  });
}

/** Whether both have as many parts, and none is empty that was not, but for the last one with `mayEndEmpty`. */
function isSamePath(path: string, harmless: string, mayEndEmpty: boolean): boolean {
  const [parts, expected] = [path.split('/'), harmless.split('/')];
  const last = mayEndEmpty ? parts.length - 1 : -1;
  if (parts.length !== expected.length) return false;
  return parts.every((part, index) => part !== '' || expected[index] === '' || index === last);
}
