import { type SettingGroup, whole } from '../setting-kinds.ts';

/** Limits of connections and messages. */
export const limits = {
  title: 'Limits',
  part: 'limits',
  everyday: {},
  further: {
    CONNECTIONS_MAX: whole(
      1000,
      10,
      1_000_000,
      'connections',
      'Most HTTP connections at once, including those of calls and readers. A new connection replaces an idle one; ' +
        'if none is idle, it is refused.',
    ),
  },
} as const satisfies SettingGroup;
