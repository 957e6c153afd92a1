/** `trunkline config`: the settings in use and their defaults. */
import { readSettings } from '../foundation/settings/config.ts';
import { isEveryday, SETTINGS, type SettingName, type Settings } from '../foundation/settings/settings.ts';
import { hideCredentialsIn } from '../foundation/urls.ts';
import { EXIT_OK } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

interface SettingRow {
  readonly name: string;
  /** As in the environment, without the credentials in URLs; of a secret only `(set)`. */
  readonly value: string;
  readonly default: string;
  readonly unit: string;
  readonly meaning: string;
}

/** What `trunkline config` prints: `all` the settings or the everyday ones, as `json` always all. */
export interface ConfigOptions {
  readonly all: boolean;
  readonly json: boolean;
}

/** Prints the settings in use, as a list for people or as JSON. */
export function showConfig(settings: Settings, { all, json }: ConfigOptions, { out }: Terminal): number {
  const names = Object.keys(SETTINGS) as SettingName[];
  if (json) {
    const rows = names.map((name) => describe(name, settings));
    out.line(JSON.stringify(rows, null, 2));
    return EXIT_OK;
  }
  const defaults = readSettings({});
  // Some defaults depend on the machine; their value here is no change.
  const isChanged = (name: SettingName) => String(settings[name]) !== String(defaults[name]);
  const shown = names.filter((name) => all || isEveryday(name) || isChanged(name));
  out.line('Settings are environment variables. A * marks a value that differs from its default.');
  for (const name of shown) showSetting(describe(name, settings), isChanged(name), out);
  if (shown.length < names.length) {
    out.line();
    out.line(
      `${names.length - shown.length} more settings tune how Trunkline works: trunkline config --all lists them.`,
    );
  }
  return EXIT_OK;
}

function showSetting(row: SettingRow, isChanged: boolean, out: Terminal['out']): void {
  out.line();
  out.line(`${isChanged ? '*' : ' '} ${out.bold(`${row.name}=${row.value}`)}`);
  out.line(`    ${row.meaning}`);
  out.line(`    ${row.unit}${isChanged ? `; default ${row.default === '' ? 'empty' : row.default}` : ''}`);
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
