import { type SettingGroup, text } from '../setting-kinds.ts';

/** Flows: what callers are asked and told without a program. */
export const flows = {
  title: 'Flows',
  everyday: {
    FLOWS_DIR: text(
      '',
      'path',
      'Folder with flows (*.yaml), their recordings (prompts/) and the numbers that they answer (numbers.yaml). ' +
        'It is read again when something in it changes. Empty = none.',
    ),
  },
  tuning: {},
} as const satisfies SettingGroup;
