import assert from 'node:assert/strict';
import { SignalWireDialect } from '../../../src/carriers/signalwire/wire/signalwire.ts';
import { streamTarget } from '../stream-target.ts';

export const target = streamTarget({
  carrier: 'signalwire',
  words: ['audio/x-L16', '24000', '"streamSid":'],
  // Swapped samples lose an odd byte and nothing else.
  open: () => new SignalWireDialect({ bigEndian: true }),
  checkSent(message, { codec }, audio) {
    const { media } = JSON.parse(String(message)) as { media: { payload: string } };
    const expected = Buffer.from(codec.name === 'pcm16' ? audio.subarray(0, audio.length & ~1) : audio);
    assert.deepEqual(Buffer.from(media.payload, 'base64'), codec.name === 'pcm16' ? expected.swap16() : expected);
  },
});
