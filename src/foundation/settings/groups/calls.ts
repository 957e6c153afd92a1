import { type SettingGroup, whole } from '../setting-kinds.ts';

/** Live calls and their captions, whoever carries them. */
export const calls = {
  title: 'Calls',
  part: 'calls',
  everyday: {
    MAX_CALLS: whole(
      0,
      0,
      10_000,
      'calls',
      'Most live calls at once. Further calls are refused. 0 = 20 for each core; with ASR_URL more, as measured.',
    ),
  },
  further: {
    LISTENERS_MAX: whole(
      0,
      0,
      10_000,
      'sessions',
      'Most sockets for live audio that are no calls at once. Further ones are refused. 0 = as MAX_CALLS.',
    ),
    LIVE_LAG_MAX_MS: whole(
      10_000,
      2000,
      60_000,
      'ms',
      'Speech of a call that no engine has read after this time gets no caption any more: a gap tells of it.',
    ),
    MEDIA_TIMEOUT_MS: whole(
      60_000,
      100,
      3_600_000,
      'ms',
      'The server closes a stream that has sent no message for this long.',
    ),
  },
} as const satisfies SettingGroup;
