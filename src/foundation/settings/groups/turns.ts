import { type SettingGroup, shareOrOff, whole } from '../setting-kinds.ts';

/** When the turn of a caller is over, and the app gets it. */
export const turns = {
  title: 'Turns',
  part: 'turns',
  prefixes: ['TURN_'],
  everyday: {},
  further: {
    TURN_HOLD_MS: whole(
      900,
      100,
      10_000,
      'ms',
      'Silence of this length ends a turn that is held. Speech before that continues the turn.',
    ),
    TURN_EARLY_ABOVE: shareOrOff(
      'Above this probability of the turn model a turn ends at once, before ENDPOINT_MS. off = never.',
    ),
  },
} as const satisfies SettingGroup;
