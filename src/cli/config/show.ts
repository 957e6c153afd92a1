/** `trunkline config show`: the settings in use and their defaults. */
import {
  describeSetting,
  effectiveSettings,
  type ListedSetting,
} from '../../foundation/settings/effective-settings.ts';
import { SETTINGS, type SettingName, type Settings } from '../../foundation/settings/settings.ts';
import { EXIT_OK } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';

/** What is printed: `all` the settings or the everyday ones, as `json` always all. */
export interface ShowOptions {
  readonly all: boolean;
  readonly json: boolean;
}

/** Prints the settings in use, as a list for people or as JSON. */
export function showConfig(settings: Settings, { all, json }: ShowOptions, { out }: Terminal): number {
  if (json) {
    const rows = (Object.keys(SETTINGS) as SettingName[]).map((name) => describeSetting(name, settings));
    out.line(JSON.stringify(rows, null, 2));
    return EXIT_OK;
  }
  const rows = effectiveSettings(settings);
  const shown = rows.filter((row) => all || row.isEveryday || row.isChanged || row.from !== 'default');
  const { filePath } = settings.sources;
  out.line(
    filePath === null
      ? 'Settings are environment variables, or in trunkline.yaml, which is not there.'
      : `Settings are environment variables, and what they do not set is in ${filePath}.`,
  );
  out.line('A * marks a value that differs from its default.');
  for (const row of shown) showSetting(row, out);
  if (shown.length < rows.length) {
    out.line();
    out.line(`${rows.length - shown.length} more settings are for special needs: trunkline config --all lists them.`);
  }
  return EXIT_OK;
}

function showSetting(row: ListedSetting, out: Terminal['out']): void {
  const usual = row.isChanged ? `; default ${row.default === '' ? 'empty' : row.default}` : '';
  const source = row.from === 'default' ? '' : `; from ${fromOf(row.from)}`;
  out.line();
  out.line(`${row.isChanged ? '*' : ' '} ${out.bold(`${row.name}=${row.value}`)}`);
  out.line(`    ${row.meaning}`);
  out.line(`    ${row.unit}${usual}${source}`);
}

/** Where a value comes from, for people. */
export function fromOf(from: string): string {
  return from === 'environment' ? 'the environment' : from;
}
