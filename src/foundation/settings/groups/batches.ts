import { type SettingGroup, text, whole } from '../setting-kinds.ts';

/** Batches of recordings. */
export const batches = {
  title: 'Batches',
  part: 'batches',
  prefixes: ['BATCHES_', 'BATCH_'],
  everyday: {},
  further: {
    BATCH_DIR: text(
      '',
      'path',
      'Folder on this machine that keeps batches across restarts. Only one server may use it. ' +
        'Empty = batches in DATA_DIR; without that a temporary folder, which is removed when the server ends.',
    ),
    BATCH_INPUT_DIR: text(
      '',
      'path',
      'Folder whose files and subfolders a batch may name by their path. Empty = none.',
    ),
    RESULT_TTL_MS: whole(
      86_400_000,
      1000,
      2_592_000_000,
      'ms',
      'The server keeps an ended batch and its results for this long.',
    ),
  },
} as const satisfies SettingGroup;
