/** Writes a trunkline.yaml with the settings in use, and the others as comments. */
import { stringify } from 'yaml';
import { hideCredentialsIn } from '../../urls.ts';
import { type SettingSpec, splitList } from '../setting-kinds.ts';
import { isEveryday, SETTING_GROUPS, type SettingName } from '../settings.ts';
import { formOf } from './file-values.ts';
import { SETTING_PLACES, type SettingPlace } from './setting-places.ts';
import { defaultOf } from './settings-schema.ts';

/** Comments are broken at this column. */
const COLUMNS = 100;

/** What is set, and whether by a variable. */
type Given = ReadonlyMap<SettingName, { readonly text: string; readonly isVariable: boolean }>;

/**
 * The text of the file. What `given` has is written out, secrets as the variable that has them; other settings are
 * comments with their default: the everyday ones, with `all` every one, with their meaning, the rest in a line each.
 * `schemaPath` = the file by
 * which editors check it.
 */
export function writeSettingsFile(
  given: Given,
  { all, schemaPath }: { readonly all: boolean; readonly schemaPath: string },
): string {
  const parts = SETTING_GROUPS.map(({ part, title }) => {
    const places = SETTING_PLACES.filter((place) => place.part === part);
    const isWhole = ({ name }: SettingPlace): boolean => all || isEveryday(name) || given.has(name);
    const whole = places.filter(isWhole).map((place) => entry(place, given));
    const others = places.filter((place) => !isWhole(place)).map(shortEntry);
    const entries = others.length === 0 ? whole : [...whole, `${others.join('\n')}\n`];
    return `\n# ${title}\n${part}:\n${entries.join('\n')}`;
  });
  return `${head(schemaPath)}${parts.join('')}`;
}

function head(schemaPath: string): string {
  return [
    `# yaml-language-server: $schema=${schemaPath}`,
    '# Settings of Trunkline. Take away the # of a line, and change its value. Variables of the environment win over',
    '# this file. A value may be ${NAME}, a variable, or {file: path}, the content of a file: secrets are best so.',
    '# "trunkline config check" says what is wrong, "trunkline config explain NAME" what a setting does.',
    '# A change counts after a restart.',
    '',
  ].join('\n');
}

function entry(place: SettingPlace, given: Given): string {
  const { name, key, spec } = place;
  const { text = '', isVariable = false } = given.get(name) ?? {};
  const isHidden = spec.secret === true || hideCredentialsIn(text) !== text;
  const isWritten = text !== '' && (isVariable || !isHidden);
  const lines = folded(`${spec.meaning} ${name}, ${spec.unit}.`).map((line) => `  # ${line}`);
  if (text !== '' && !isWritten) lines.push('  # It is set in the file that is read now.');
  const value = isHidden ? `\${${name}}` : writtenValueOf(spec, text);
  const written = yamlOf(key, isWritten ? value : defaultOf(spec));
  return `${[...lines, ...written.map((line) => (isWritten ? `  ${line}` : `  #${line}`))].join('\n')}\n`;
}

/** One line. */
function shortEntry({ name, key, spec }: SettingPlace): string {
  const value = stringify(defaultOf(spec), { lineWidth: 0, collectionStyle: 'flow', flowCollectionPadding: false });
  return `  #${key}: ${value.trimEnd()} # ${name}, ${spec.unit}`;
}

function yamlOf(key: string, value: unknown): string[] {
  return stringify({ [key]: value }, { lineWidth: 0, flowCollectionPadding: false })
    .trimEnd()
    .split('\n');
}

/** How `text` is written in the file. */
function writtenValueOf(spec: SettingSpec<unknown>, text: string): unknown {
  const form = formOf(spec);
  if (form.kind === 'number' && text !== form.word) return Number(text);
  if (form.kind === 'flag') return text === 'true';
  if (form.kind !== 'list') return escaped(text);
  return splitList(text).map(escaped);
}

/** `${` is no reference in what is set already. */
function escaped(text: string): string {
  return text.replaceAll('${', () => '$${');
}

function folded(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length >= COLUMNS) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
