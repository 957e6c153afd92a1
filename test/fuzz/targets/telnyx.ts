import { TelnyxDialect } from '../../../src/carriers/telnyx/wire/telnyx.ts';
import { checkPayload, streamTarget } from '../stream-target.ts';

export const target = streamTarget({
  carrier: 'telnyx',
  words: ['error', 'client_state', 'custom_parameters', '"stream_id":', 'L16', 'PCMA', '100004'],
  open: () => new TelnyxDialect({ bigEndian: false }),
  checkSent: checkPayload,
});
