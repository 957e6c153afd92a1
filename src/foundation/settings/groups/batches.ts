import { type SettingGroup, text, whole } from '../setting-kinds.ts';

/** Batches of recordings. */
export const batches = {
  title: 'Batches',
  part: 'batches',
  prefixes: ['BATCHES_', 'BATCH_'],
  everyday: {
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
  tuning: {
    BATCHES_MAX: whole(
      50,
      1,
      1000,
      'batches',
      'Most batches of one API key that run at once. Further batches are refused. Ended ones do not count; twenty ' +
        'times as many of them are kept.',
    ),
    BATCH_FILES_MAX: whole(500, 1, 10_000, 'files', 'Most recordings in one batch.'),
    BATCH_MAX_BYTES: whole(
      4_294_967_296,
      1024,
      1_099_511_627_776,
      'bytes',
      'Largest size of all uploads of one batch together.',
    ),
  },
} as const satisfies SettingGroup;
