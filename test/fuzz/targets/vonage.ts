import assert from 'node:assert/strict';
import { VonageDialect } from '../../../src/carriers/vonage/wire/vonage.ts';
import { streamTarget } from '../stream-target.ts';

export const target = streamTarget({
  carrier: 'vonage',
  words: [
    'websocket:connected',
    'websocket:notify',
    'websocket:dtmf',
    'audio/l16;rate=16000',
    'headers',
    '\u0000',
    '{"binary":"AAA="}',
  ],
  early: ['audio', 'dtmf'],
  open: () => new VonageDialect({ streamId: 'ours' }),
  checkSent: (message, _start, audio) => assert.equal(message, audio),
});
