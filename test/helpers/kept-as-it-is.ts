import { systemClock } from '../../src/foundation/clock.ts';
import { recordRedaction } from '../../src/records/record-redaction.ts';

/** Records of one gateway, in which nothing is masked. */
export const KEPT_AS_IT_IS = {
  retentionDays: 30,
  isShared: false,
  redaction: recordRedaction({ REDACT: 'off', REDACT_PATTERNS_FILE: '' }, systemClock),
} as const;
