import { type SettingGroup, text } from '../setting-kinds.ts';

/** The hints beside calls. */
export const hints = {
  title: 'Hints',
  part: 'hints',
  prefixes: ['HINTS_'],
  everyday: {
    HINTS_FILE: text(
      '',
      'path',
      'YAML file with cards that are shown beside a call in which their words are said. It is read again when it ' +
        'changes. Empty = none.',
    ),
  },
  further: {
    HINTS_MODEL: text(
      '',
      'model',
      'Model at LLM_BASE_URL that is asked for hints during calls. What is said in them is sent there. Empty = no ' +
        'model is asked.',
    ),
  },
} as const satisfies SettingGroup;
