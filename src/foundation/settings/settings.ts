/**
 * Every setting: name, default, unit and meaning. `config.ts` reads the environment by it, `trunkline config` prints
 * it, and `npm run docs` writes docs/reference/settings.md from it.
 */

import type { Constants } from './constants.ts';
import { apps } from './groups/apps.ts';
import { asterisk } from './groups/asterisk.ts';
import { batches } from './groups/batches.ts';
import { calls } from './groups/calls.ts';
import { carriers } from './groups/carriers.ts';
import { cluster } from './groups/cluster.ts';
import { engines } from './groups/engines.ts';
import { flows } from './groups/flows.ts';
import { hints } from './groups/hints.ts';
import { limits } from './groups/limits.ts';
import { llm } from './groups/llm.ts';
import { recognition } from './groups/recognition.ts';
import { recordings } from './groups/recordings.ts';
import { records } from './groups/records.ts';
import { security } from './groups/security.ts';
import { server } from './groups/server.ts';
import { sip } from './groups/sip.ts';
import { speech } from './groups/speech.ts';
import { tracing } from './groups/tracing.ts';
import { turns } from './groups/turns.ts';
import type { OLD_CHAT_SETTINGS } from './old-settings.ts';
import type { SettingGroup, SettingSpec } from './setting-kinds.ts';

/** The settings by topic, in the order in which people read them. */
export const SETTING_GROUPS: readonly SettingGroup[] = [
  server,
  security,
  calls,
  carriers,
  asterisk,
  sip,
  apps,
  flows,
  records,
  cluster,
  llm,
  hints,
  recognition,
  turns,
  speech,
  recordings,
  batches,
  engines,
  limits,
  tracing,
];

const EVERYDAY = {
  ...server.everyday,
  ...security.everyday,
  ...calls.everyday,
  ...carriers.everyday,
  ...asterisk.everyday,
  ...sip.everyday,
  ...apps.everyday,
  ...flows.everyday,
  ...records.everyday,
  ...cluster.everyday,
  ...llm.everyday,
  ...hints.everyday,
  ...recognition.everyday,
  ...turns.everyday,
  ...speech.everyday,
  ...recordings.everyday,
  ...batches.everyday,
  ...engines.everyday,
  ...limits.everyday,
  ...tracing.everyday,
} as const;

const FURTHER = {
  ...server.further,
  ...security.further,
  ...calls.further,
  ...carriers.further,
  ...asterisk.further,
  ...sip.further,
  ...apps.further,
  ...flows.further,
  ...records.further,
  ...cluster.further,
  ...llm.further,
  ...hints.further,
  ...recognition.further,
  ...turns.further,
  ...speech.further,
  ...recordings.further,
  ...batches.further,
  ...engines.further,
  ...limits.further,
  ...tracing.further,
} as const;

/** All settings by name: the everyday ones first. */
export const SETTINGS = { ...EVERYDAY, ...FURTHER } as const satisfies Record<string, SettingSpec<unknown>>;

export type SettingName = keyof typeof SETTINGS;

/** Whether most operators meet it; the others are for special needs. At most 50 are. */
export function isEveryday(name: SettingName): boolean {
  return name in EVERYDAY;
}

type ValueOf<S> = S extends SettingSpec<infer T> ? T : never;

/** The checked settings by their environment name, frozen. */
export type Settings = Constants & { readonly [K in SettingName]: ValueOf<(typeof SETTINGS)[K]> } & {
  readonly [K in keyof typeof OLD_CHAT_SETTINGS]: ValueOf<(typeof OLD_CHAT_SETTINGS)[K]>;
} & {
  /** DATA_DIR was not set: a folder that cannot be used is no reason to stop. */
  readonly isDataDirDefault: boolean;
  /** MAX_CALLS was 0 and there is an ASR_URL: more calls than MAX_CALLS are taken where they are seen to fit. */
  readonly isMaxCallsMeasured: boolean;
  /** Where the values come from. */
  readonly sources: SettingSources;
  /** What the operator is told once at the start: names that went, a file that others can read. One line each. */
  readonly notices: readonly string[];
};

/** Where values come from; what is in neither map is a default. */
export interface SettingSources {
  /** The file that was read, as it was looked for; null = none. */
  readonly filePath: string | null;
  /** The place of each value that the file has, as `path:line:column`. */
  readonly fromFile: Readonly<Partial<Record<SettingName, string>>>;
  /** The variables that are set. They win over the file. */
  readonly fromEnvironment: readonly SettingName[];
}
