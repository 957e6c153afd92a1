import { ExotelDialect } from '../../../src/carriers/exotel/wire/exotel.ts';
import { checkPayload, streamTarget } from '../stream-target.ts';

export const target = streamTarget({
  carrier: 'exotel',
  words: ['custom_parameters', 'sample_rate', '"stream_sid":', '"streamSid":', '"callSid":', 'base64'],
  open: () => new ExotelDialect(),
  checkSent: checkPayload,
});
