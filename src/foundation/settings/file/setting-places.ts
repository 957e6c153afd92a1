/** Where each setting is in trunkline.yaml: `sip.port` is SIP_PORT. */
import type { SettingSpec } from '../setting-kinds.ts';
import { SETTING_GROUPS, type SettingName } from '../settings.ts';

/** The place of one setting. */
export interface SettingPlace {
  readonly name: SettingName;
  readonly part: string;
  readonly key: string;
  readonly spec: SettingSpec<unknown>;
}

/** All places, in the order of docs/reference/settings.md within each part. */
export const SETTING_PLACES: readonly SettingPlace[] = SETTING_GROUPS.flatMap((group) =>
  Object.entries<SettingSpec<unknown>>({ ...group.everyday, ...group.further }).map(([name, spec]) => ({
    name: name as SettingName,
    part: group.part,
    key: keyOf(name, group.prefixes ?? []),
    spec,
  })),
);

const BY_NAME: ReadonlyMap<string, SettingPlace> = new Map(SETTING_PLACES.map((place) => [place.name, place]));
const BY_PATH: ReadonlyMap<string, SettingPlace> = new Map(SETTING_PLACES.map((place) => [pathOf(place), place]));

/** The place of the setting `name`. */
export function placeOf(name: SettingName): SettingPlace {
  const place = BY_NAME.get(name);
  if (place === undefined) throw new RangeError(`${name} is in no group`);
  return place;
}

/** The setting at `part.key`; null = there is none. */
export function settingAt(path: string): SettingPlace | null {
  return BY_PATH.get(path) ?? null;
}

/** `part.key`. */
export function pathOf({ part, key }: Pick<SettingPlace, 'part' | 'key'>): string {
  return `${part}.${key}`;
}

/** SIP_TLS_PORT without SIP_ is `tlsPort`. */
function keyOf(name: string, prefixes: readonly string[]): string {
  const prefix = prefixes.find((start) => name.startsWith(start)) ?? '';
  return name
    .slice(prefix.length)
    .toLowerCase()
    .replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
