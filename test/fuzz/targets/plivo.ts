import { PlivoDialect } from '../../../src/protocols/media-streams/plivo.ts';
import { checkPayload, streamTarget } from '../stream-target.ts';

export const target = streamTarget({
  carrier: 'plivo',
  words: ['playedStream', 'clearedAudio', 'extra_headers', 'audio/x-l16', '1705312200000', '"streamId":', 'a=b;c=d'],
  open: () => new PlivoDialect({ bigEndian: false }),
  checkSent: checkPayload,
});
