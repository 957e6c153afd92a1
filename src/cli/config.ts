/** `trunkline config`: what every setting is, and what it would be without you. */
import { readSettings } from '../foundation/settings/config.ts';
import { SETTINGS, type SettingName, type Settings } from '../foundation/settings/settings.ts';
import { hideCredentialsIn } from '../foundation/urls.ts';
import { EXIT_OK } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

interface SettingRow {
  readonly name: string;
  /**
   * As it would be written in the environment, without the credentials in URLs; of a secret only whether there is one.
   */
  readonly value: string;
  readonly default: string;
  readonly unit: string;
  readonly meaning: string;
}

/** Prints the settings in use, as a list for people or as JSON. */
export function showConfig(settings: Settings, options: { readonly json: boolean }, { out }: Terminal): number {
  const names = Object.keys(SETTINGS) as SettingName[];
  const rows = names.map((name) => describe(name, settings));
  if (options.json) {
    out.line(JSON.stringify(rows, null, 2));
    return EXIT_OK;
  }
  out.line('Settings are environment variables. A * marks what differs from its default.');
  const defaults = readSettings({});
  for (const [index, row] of rows.entries()) {
    const name = names[index];
    // Some defaults follow the machine: what they come to here is no change.
    const isChanged = name !== undefined && String(settings[name]) !== String(defaults[name]);
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
