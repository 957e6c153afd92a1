/** The settings in effect, for people: nothing in them that opens anything. */
import { hideCredentialsIn } from '../urls.ts';
import { readSettings } from './config.ts';
import { pathOf, placeOf } from './file/setting-places.ts';
import { isEveryday, SETTINGS, type SettingName, type Settings } from './settings.ts';

/** One setting. */
export interface EffectiveSetting {
  readonly name: SettingName;
  /** As in the environment, without the credentials in URLs; of a secret only `(set)`. */
  readonly value: string;
  readonly default: string;
  readonly unit: string;
  readonly meaning: string;
  /** Where it is in trunkline.yaml: `sip.port`. */
  readonly key: string;
  /** Where the value comes from: `default`, `environment`, or a place in trunkline.yaml as `path:line:column`. */
  readonly from: string;
}

/** An {@link EffectiveSetting}, with what helps to find the ones that matter. */
export interface ListedSetting extends EffectiveSetting {
  /** Its value is not the default. Defaults that depend on the machine count as they are here. */
  readonly isChanged: boolean;
  readonly isEveryday: boolean;
}

/** All settings in the order of docs/reference/settings.md. */
export function effectiveSettings(settings: Settings): ListedSetting[] {
  const defaults = readSettings({});
  return (Object.keys(SETTINGS) as SettingName[]).map((name) => ({
    ...describeSetting(name, settings),
    isChanged: String(settings[name]) !== String(defaults[name]),
    isEveryday: isEveryday(name),
  }));
}

/** The setting `name` as it is in `settings`. */
export function describeSetting(name: SettingName, settings: Settings): EffectiveSetting {
  const spec = SETTINGS[name];
  const value = hideCredentialsIn(String(settings[name]));
  const isSecret = 'secret' in spec;
  return {
    name,
    value: isSecret && value !== '' ? '(set)' : value,
    default: spec.defaultText,
    unit: spec.unit,
    meaning: spec.meaning,
    key: pathOf(placeOf(name)),
    from: sourceOf(name, settings),
  };
}

function sourceOf(name: SettingName, { sources }: Settings): string {
  return sources.fromEnvironment.includes(name) ? 'environment' : (sources.fromFile[name] ?? 'default');
}
