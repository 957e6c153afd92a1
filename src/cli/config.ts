/** `trunkline config`: the settings in use and their defaults. */
import { describeSetting, effectiveSettings, type ListedSetting } from '../foundation/settings/effective-settings.ts';
import { SETTINGS, type SettingName, type Settings } from '../foundation/settings/settings.ts';
import { EXIT_OK } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** What `trunkline config` prints: `all` the settings or the everyday ones, as `json` always all. */
export interface ConfigOptions {
  readonly all: boolean;
  readonly json: boolean;
}

/** Prints the settings in use, as a list for people or as JSON. */
export function showConfig(settings: Settings, { all, json }: ConfigOptions, { out }: Terminal): number {
  if (json) {
    const rows = (Object.keys(SETTINGS) as SettingName[]).map((name) => describeSetting(name, settings));
    out.line(JSON.stringify(rows, null, 2));
    return EXIT_OK;
  }
  const rows = effectiveSettings(settings);
  const shown = rows.filter((row) => all || row.isEveryday || row.isChanged);
  out.line('Settings are environment variables. A * marks a value that differs from its default.');
  for (const row of shown) showSetting(row, out);
  if (shown.length < rows.length) {
    out.line();
    out.line(
      `${rows.length - shown.length} more settings tune how Trunkline works: trunkline config --all lists them.`,
    );
  }
  return EXIT_OK;
}

function showSetting(row: ListedSetting, out: Terminal['out']): void {
  out.line();
  out.line(`${row.isChanged ? '*' : ' '} ${out.bold(`${row.name}=${row.value}`)}`);
  out.line(`    ${row.meaning}`);
  out.line(`    ${row.unit}${row.isChanged ? `; default ${row.default === '' ? 'empty' : row.default}` : ''}`);
}
