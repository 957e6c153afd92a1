import { type SettingGroup, text, whole } from '../setting-kinds.ts';

/** Recordings that are transcribed, and the translation of their transcripts. */
export const recordings = {
  title: 'Recordings',
  part: 'recordings',
  everyday: {},
  further: {
    UPLOAD_MAX_BYTES: whole(1_073_741_824, 1024, 1_099_511_627_776, 'bytes', 'Largest recording that may be uploaded.'),
    AUDIO_MAX_SECONDS: whole(14_400, 1, 864_000, 's', 'Longest recording that is transcribed.'),
    UPLOAD_DIR: text(
      '',
      'path',
      'Folder for recordings while the server transcribes them. Empty = uploads in DATA_DIR; without that the ' +
        'temporary folder of the system.',
    ),
    TRANSLATE_MODEL: text('', 'model', 'Model at LLM_BASE_URL that translates transcripts. Empty = LLM_MODEL.'),
    UPLOAD_TIMEOUT_MS: whole(600_000, 1000, 86_400_000, 'ms', 'Longest time for one upload.'),
    UPLOAD_DISK_MAX_BYTES: whole(
      17_179_869_184,
      65_536,
      1_125_899_906_842_624,
      'bytes',
      'Most disk space for all recordings together, including those of batches and the files that ffmpeg writes. ' +
        'Further recordings are refused.',
    ),
  },
} as const satisfies SettingGroup;
