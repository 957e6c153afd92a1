/** The settings page, written from the settings themselves. */
import type { SettingGroup, SettingSpec } from '../src/foundation/settings/setting-kinds.ts';
import { SETTING_GROUPS } from '../src/foundation/settings/settings.ts';

type Level = 'everyday' | 'further';

const HEAD = `# Settings

\`npm run docs\` writes this page from \`src/foundation/settings/groups/\`. Do not edit it.

Settings are environment variables, and what these do not set is in \`trunkline.yaml\`
([configure](../guide/configure.md)), where \`SIP_PORT\` is \`sip.port\`. Trunkline reads them once when it starts. An empty variable counts as not set. If a value is wrong, or a name is
likely a typo of a setting, Trunkline does not start: it prints what it got and what it expects, and exits with 78.
\`npm run trunkline -- config\` prints the everyday settings in use, \`config --all\` all of them, and
\`config explain NAME\` one of them.
`;

/** The text of docs/reference/settings.md. */
export function settingsPage(): string {
  return [
    HEAD,
    '## Everyday settings\n',
    ...SETTING_GROUPS.map((group) => section(group, 'everyday')),
    '## Further settings\n',
    'For special needs. Most installations never change them.\n',
    ...SETTING_GROUPS.map((group) => section(group, 'further')),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function section(group: SettingGroup, level: Level): string {
  const settings = Object.entries(group[level]);
  if (settings.length === 0) return '';
  return [
    `### ${group.title}${level === 'further' ? ': further settings' : ''}`,
    '',
    `In the file: \`${group.part}\`.\n`,
    '| setting | default | unit or values | meaning |',
    '|---|---|---|---|',
    ...settings.map(([name, spec]) => row(name, spec)),
    '',
  ].join('\n');
}

function row(name: string, { defaultText, unit, range, meaning }: SettingSpec<unknown>): string {
  const shown = defaultText === '' ? 'empty' : `\`${defaultText}\``;
  return `| \`${name}\` | ${shown} | ${range === undefined ? unit : `${unit}, ${range}`} | ${meaning} |`;
}
