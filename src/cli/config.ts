/** `trunkline config`: what every setting is, and what it would be without you. */
import { SETTINGS, type SettingName, type Settings } from '../settings.ts';
import { hideCredentialsIn } from '../urls.ts';
import { EXIT_OK } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

interface SettingRow {
  readonly name: string;
  /** As it would be written in the environment, without the credentials in URLs; of a secret only whether there is one. */
  readonly value: string;
  readonly default: string;
  readonly unit: string;
  readonly meaning: string;
}

/** Prints the settings in use, as a list for people or as JSON. */
export function showConfig(settings: Settings, options: { readonly json: boolean }, { out }: Terminal): number {
  const rows = (Object.keys(SETTINGS) as SettingName[]).map((name) => describe(name, settings));
  if (options.json) {
    out.line(JSON.stringify(rows, null, 2));
    return EXIT_OK;
  }
  out.line('Settings are environment variables. A * marks what differs from its default.');
  for (const row of rows) {
    const isChanged = row.value !== row.default;
    out.line();
    out.line(`${isChanged ? '*' : ' '} ${out.bold(`${row.name}=${row.value}`)}`);
    out.line(`    ${row.meaning}`);
    out.line(`    ${row.unit}${isChanged ? `; default ${row.default === '' ? 'empty' : row.default}` : ''}`);
  }
  return EXIT_OK;
}

function describe(name: SettingName, settings: Settings): SettingRow {
  const spec = SETTINGS[name];
  const value = hideCredentialsIn(String(settings[name]));
  const isSecret = 'secret' in spec;
  return {
    name,
    value: isSecret && value !== '' ? '(set)' : value,
    default: spec.defaultText,
    unit: spec.unit,
    meaning: spec.meaning,
  };
}
