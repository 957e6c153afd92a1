import { type SettingGroup, whole } from '../setting-kinds.ts';

/** Limits of connections and messages. */
export const limits = {
  title: 'Limits',
  part: 'limits',
  everyday: {},
  tuning: {
    CONNECTIONS_MAX: whole(
      1000,
      10,
      1_000_000,
      'connections',
      'Most HTTP connections at once, including those of calls and readers. A new connection replaces an idle one; ' +
        'if none is idle, it is refused.',
    ),
    FEED_READERS_MAX: whole(200, 1, 10_000, 'readers', 'Most open caption feeds at once. Further readers are refused.'),
  },
} as const satisfies SettingGroup;
