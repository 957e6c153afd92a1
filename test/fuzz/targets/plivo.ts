import { PlivoDialect } from '../../../src/carriers/plivo/wire/plivo.ts';
import { checkPayload, streamTarget } from '../stream-target.ts';

export const target = streamTarget({
  carrier: 'plivo',
  words: ['playedStream', 'clearedAudio', 'extra_headers', 'audio/x-l16', '1705312200000', '"streamId":', 'a=b;c=d'],
  open: () => new PlivoDialect({ bigEndian: false }),
  checkSent: checkPayload,
});
