/** `trunkline config explain`: one setting. */
import { nearestName } from '../../foundation/nearest-name.ts';
import { valueOfGone } from '../../foundation/settings/constants.ts';
import { describeSetting } from '../../foundation/settings/effective-settings.ts';
import { pathOf, placeOf, SETTING_PLACES, settingAt } from '../../foundation/settings/file/setting-places.ts';
import { OLD_SETTINGS } from '../../foundation/settings/old-settings.ts';
import { SETTINGS, type SettingName, type Settings } from '../../foundation/settings/settings.ts';
import { EXIT_OK, EXIT_USAGE } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';
import { fromOf } from './show.ts';

/** Prints what there is to know of the setting `typed`. @throws ConfigError when the settings cannot be read */
export function explainSetting(typed: string, read: () => Settings, { out, err }: Terminal): number {
  const name = settingNamed(typed);
  const gone = valueOfGone(typed.trim().toUpperCase());
  if (name === null && gone !== null) {
    out.line(`${typed.trim().toUpperCase()} is no longer a setting: its value is ${gone} for everybody.`);
    return EXIT_OK;
  }
  const old = OLD_SETTINGS[typed.trim().toUpperCase()];
  if (name === null && old !== undefined) {
    out.line(`${typed.trim().toUpperCase()} is an old name, which is read until 1.0: set ${old.meaning}.`);
    return EXIT_OK;
  }
  if (name === null) {
    err.line(`trunkline: ${typed} is no setting${suggestion(typed)}. trunkline config --all lists them`);
    return EXIT_USAGE;
  }
  const settings = read();
  const { value, default: usual, unit, meaning, key, from } = describeSetting(name, settings);
  const { fromFile } = settings.sources;
  const { range } = placeOf(name).spec;
  out.line(out.bold(`${name}=${value}`));
  out.line(`  ${meaning}`);
  out.line(`  Values:   ${unit}${range === undefined ? '' : `, ${range}`}`);
  out.line(`  Default:  ${usual === '' ? 'empty' : usual}`);
  out.line(`  Variable: ${name}`);
  out.line(`  File:     ${key} in trunkline.yaml`);
  out.line(`  Now:      ${from === 'default' ? 'the default' : `from ${fromOf(from)}`}`);
  if (from === 'environment' && fromFile[name] !== undefined)
    out.line(`            ${fromFile[name]} sets it too; the environment wins`);
  out.line('  A change counts after a restart.');
  return EXIT_OK;
}

function settingNamed(typed: string): SettingName | null {
  const upper = typed.trim().toUpperCase();
  if (Object.hasOwn(SETTINGS, upper)) return upper as SettingName;
  return settingAt(typed.trim())?.name ?? null;
}

function suggestion(typed: string): string {
  const near = nearestName(typed, [...Object.keys(SETTINGS), ...SETTING_PLACES.map(pathOf)]);
  return near === null ? '' : `, did you mean ${near}?`;
}
