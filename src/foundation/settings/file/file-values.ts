/** How the values of trunkline.yaml are written as the environment has them. */
import { hideCredentialsIn } from '../../urls.ts';
import type { FileForm, SettingSpec } from '../setting-kinds.ts';

/** A value as a variable would have it, or what is wrong with it. */
export type WrittenValue = { readonly text: string } | { readonly problem: string };

/** More of a value is not repeated. */
const SHOWN_CHARS = 80;

/** How `spec` is written in the file. */
export function formOf(spec: SettingSpec<unknown>): FileForm | { readonly kind: 'text' } {
  if (spec.inFile !== undefined) return spec.inFile;
  return Array.isArray(spec.schema.parse(spec.defaultText)) ? { kind: 'list' } : { kind: 'text' };
}

/**
 * The text of `value`, which has no references any more. `isReferred` = some of it came from elsewhere, as text: then
 * it may stand for a number, too.
 */
export function writeValue(value: unknown, isReferred: boolean, spec: SettingSpec<unknown>): WrittenValue {
  const text = textOf(value, isReferred, spec);
  if (text === null) return { problem: `${got(value, spec)}, expected ${expected(spec)}` };
  if (text.trim() === '' && spec.defaultText !== '')
    return { problem: `got nothing, expected ${expected(spec)}, or leave it out for the default ${spec.defaultText}` };
  const parsed = spec.schema.safeParse(text.trim());
  if (parsed.success) return { text };
  return { problem: `${got(value, spec)}, expected ${parsed.error.issues[0]?.message ?? spec.unit}` };
}

function textOf(value: unknown, isReferred: boolean, spec: SettingSpec<unknown>): string | null {
  const form = formOf(spec);
  switch (form.kind) {
    case 'number':
      if (typeof value === 'number' || (form.word !== undefined && value === form.word)) return String(value);
      return isReferred && typeof value === 'string' ? value : null;
    case 'flag':
      if (typeof value === 'boolean') return String(value);
      return isReferred && typeof value === 'string' ? value : null;
    case 'words':
    case 'text':
      return typeof value === 'string' ? value : null;
    case 'list':
      return typeof value === 'string' ? value : listText(value, form.hasNumbers === true);
    case 'records':
      if (typeof value === 'string') return value;
      return Array.isArray(value) ? JSON.stringify(value) : null;
  }
}

/** Items have no commas: the variable could not tell them from two items. */
function listText(value: unknown, hasNumbers: boolean): string | null {
  if (!Array.isArray(value)) return null;
  const isItem = (item: unknown): boolean =>
    (typeof item === 'string' && item.trim() !== '' && !item.includes(',')) || (hasNumbers && Number.isInteger(item));
  return value.every(isItem) ? value.join(',') : null;
}

function expected(spec: SettingSpec<unknown>): string {
  const form = formOf(spec);
  switch (form.kind) {
    case 'number':
      return (
        `${form.word === undefined ? '' : `${form.word} or `}a ${form.isWhole ? 'whole ' : ''}number ` +
        `from ${form.minimum} to ${form.maximum}, without quotes`
      );
    case 'flag':
      return 'true or false, without quotes';
    case 'words':
      return `one of ${form.words.join(', ')}`;
    case 'text':
      return 'a text; numbers stand in quotes';
    case 'list':
      return form.hasNumbers === true
        ? 'a list of numbers'
        : 'a list of texts without commas, such as [one, two]; numbers stand in quotes';
    case 'records':
      return 'a list, or the path of a file';
  }
}

function got(value: unknown, spec: SettingSpec<unknown>): string {
  if (value === null || value === undefined) return 'got nothing';
  if (Array.isArray(value)) return 'got a list';
  if (typeof value === 'object') return 'got a mapping';
  if (spec.secret === true) return `got a ${typeof value === 'string' ? 'text' : typeof value} that is not allowed`;
  const shown = JSON.stringify(typeof value === 'string' ? hideCredentialsIn(value) : value);
  return `got ${shown.length > SHOWN_CHARS ? `${shown.slice(0, SHOWN_CHARS)}…` : shown}`;
}
