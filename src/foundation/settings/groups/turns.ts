import { type SettingGroup, share, shareOrOff, whole } from '../setting-kinds.ts';

/** When the turn of a caller is over, and the app gets it. */
export const turns = {
  title: 'Turns',
  part: 'turns',
  prefixes: ['TURN_'],
  everyday: {},
  tuning: {
    TURN_HOLD_BELOW: share(
      0.2,
      'Below this probability of the turn model a turn is held: it is not over at ENDPOINT_MS. It is also held after ' +
        'words that no English phrase ends with. 0 = no turn is held.',
    ),
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
    TURN_DIGITS_MS: whole(
      1600,
      100,
      10_000,
      'ms',
      'If the app expects digits, silence of this length ends a turn that has only digits so far.',
    ),
  },
} as const satisfies SettingGroup;
