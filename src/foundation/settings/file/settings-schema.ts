/** The JSON Schema of trunkline.yaml, for editors. */
import { type SettingSpec, splitList } from '../setting-kinds.ts';
import { SETTING_GROUPS } from '../settings.ts';
import { formOf } from './file-values.ts';
import { SETTING_PLACES, type SettingPlace } from './setting-places.ts';

const REFERENCE = { $ref: '#/$defs/reference' };
const FILE = { $ref: '#/$defs/file' };

/** The text of docs/reference/settings.schema.json. */
export function settingsSchema(): string {
  const parts = SETTING_GROUPS.map(({ part, title }) => [part, partSchema(part, title)]);
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'trunkline.yaml, the settings of Trunkline',
    $comment: 'npm run docs writes this file from src/foundation/settings. Do not edit it.',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(parts),
    $defs: {
      reference: { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}', description: 'A variable: ${NAME}' },
      file: {
        type: 'object',
        description: 'The content of a file',
        additionalProperties: false,
        required: ['file'],
        properties: { file: { type: 'string', description: 'Its path, from the folder of this file' } },
      },
    },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function partSchema(part: string, title: string): object {
  const places = SETTING_PLACES.filter((place) => place.part === part);
  return {
    title,
    type: ['object', 'null'],
    additionalProperties: false,
    properties: Object.fromEntries(places.map((place) => [place.key, settingSchema(place)])),
  };
}

function settingSchema({ name, spec }: SettingPlace): object {
  return {
    description: `${spec.meaning} (${name}; ${spec.unit})`,
    ...(spec.defaultText === '' ? {} : { default: defaultOf(spec) }),
    anyOf: [...formSchemas(spec), FILE],
  };
}

function formSchemas(spec: SettingSpec<unknown>): object[] {
  const form = formOf(spec);
  switch (form.kind) {
    case 'number':
      return [
        { type: form.isWhole ? 'integer' : 'number', minimum: form.minimum, maximum: form.maximum },
        ...(form.word === undefined ? [] : [{ enum: [form.word] }]),
        REFERENCE,
      ];
    case 'flag':
      return [{ type: 'boolean' }, REFERENCE];
    case 'words':
      return [{ enum: form.words }, REFERENCE];
    case 'text':
      return [{ type: 'string' }];
    case 'list':
      return [{ type: 'array', items: itemSchema(form) }, { type: 'string' }];
    case 'records':
      return [{ type: 'array', items: { type: 'object' } }, { type: 'string' }];
  }
}

function itemSchema({ words, hasNumbers }: { words?: readonly string[]; hasNumbers?: true }): object {
  if (words !== undefined) return { anyOf: [{ enum: words }, REFERENCE, FILE] };
  return { anyOf: [{ type: hasNumbers === true ? ['integer', 'string'] : 'string' }, FILE] };
}

/** As it would be written in the file. */
export function defaultOf(spec: SettingSpec<unknown>): unknown {
  const { kind } = formOf(spec);
  const { defaultText } = spec;
  if (kind === 'number' && Number.isFinite(Number(defaultText))) return Number(defaultText);
  if (kind === 'flag') return defaultText === 'true';
  return kind === 'list' ? splitList(defaultText) : defaultText;
}
