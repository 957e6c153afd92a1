import assert from 'node:assert/strict';
import { TwilioDialect } from '../../../src/carriers/shared/wire/twilio-media.ts';
import { streamTarget } from '../stream-target.ts';

export const target = streamTarget({
  carrier: 'twilio',
  words: ['outbound', 'customParameters', '"streamSid":'],
  open: () => new TwilioDialect(),
  checkSent: (message, start) => assert.equal(JSON.parse(String(message)).streamSid, start.streamId),
});
