import { type SettingGroup, secret, text } from '../setting-kinds.ts';

/** Flows: what callers are asked and told without a program. */
export const flows = {
  title: 'Flows',
  part: 'flows',
  prefixes: ['FLOWS_', 'FLOW_'],
  everyday: {
    FLOWS_DIR: text(
      '',
      'path',
      'Folder with flows (*.yaml), their recordings (prompts/) and the numbers that they answer (numbers.yaml). ' +
        'It is read again when something in it changes. Empty = none.',
    ),
  },
  further: {
    FLOW_SIGNING_KEY: secret(
      'key',
      'Key with which the requests of flows are signed, as webhooks are. Empty = WEBHOOK_SECRET.',
    ),
  },
} as const satisfies SettingGroup;
