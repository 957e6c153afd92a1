import assert from 'node:assert/strict';
import { FreeSwitchDialect } from '../../../src/carriers/freeswitch/wire/freeswitch.ts';
import { streamTarget } from '../stream-target.ts';

export const target = streamTarget({
  carrier: 'freeswitch',
  words: ['playDone', '"data":{"id":"s1"}', 'dtmf', 'uuid', '\u0000', '{"binary":"AAA="}'],
  open: () => new FreeSwitchDialect({ streamId: 'ours', play: 'streamAudio' }),
  checkSent: () => assert.fail('a file before its mark'),
});
