import assert from 'node:assert/strict';
import { AudioHookSession } from '../../../src/carriers/audiohook/wire/session.ts';
import { checkAudioHookSignature } from '../../../src/carriers/audiohook/wire/signature.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import type { FuzzTarget } from '../fuzz.ts';

const ID = 'e160e428-53e2-487c-977d-96989bf5c99d';
const OPEN = JSON.stringify({
  version: '2',
  id: ID,
  type: 'open',
  seq: 1,
  serverseq: 0,
  position: 'PT0S',
  parameters: {
    conversationId: 'c',
    participant: { id: 'p', ani: '+15550100', aniName: 'Maria', dnis: '+15550199' },
    media: [{ type: 'audio', format: 'PCMU', channels: ['external', 'internal'], rate: 8000 }],
    customConfig: { queue: 'sales' },
  },
});
const of = (type: string, parameters: object = {}) =>
  JSON.stringify({ version: '2', id: ID, type, seq: 2, serverseq: 1, position: 'PT1S', parameters });

/** Lines are messages; one that begins with `=` is that much audio. Whatever comes, the session answers or refuses. */
export const target: FuzzTarget = {
  name: 'audiohook',
  seeds: [
    [OPEN, '=3200', of('ping'), of('update', { language: 'de' }), of('close', { reason: 'end' })],
    [OPEN, of('discarded', { start: 'PT1S', discarded: 'PT2.5S' }), '=7', of('paused'), of('resumed')],
    [
      OPEN.replace('"customConfig"', '"continuedSessions":[{"id":"c"}],"customConfig"'),
      '=320',
      of('close', { reason: 'reconnect' }),
    ],
    [of('ping'), of('error', { code: 408, message: 'x' })],
  ].map((lines) => Buffer.from(lines.join('\n'))),
  words: ['"media"', 'PCMU', 'external', 'internal', 'PT', '"seq"', '00000000-0000-0000-0000-000000000000', '='],
  run(input) {
    const text = Buffer.from(input).toString();
    const former = new AudioHookSession({ streamId: 'former', organizationId: null, languages: () => ['en'] });
    former.receive(OPEN);
    const session = new AudioHookSession({ streamId: 'ours', organizationId: null, languages: () => ['en'] });
    for (const line of text.split('\n').slice(0, 50)) {
      try {
        const audio = /^=(\d{1,4})$/.exec(line)?.[1];
        const { replies } = session.receive(audio === undefined ? line : new Uint8Array(Number(audio)));
        if (session.continues.length > 0) session.continueFrom(former, 100);
        for (const reply of replies) assert.equal(JSON.parse(reply).version, '2');
      } catch (error) {
        if (!(error instanceof TrunklineError)) throw error;
      }
    }
    const [signature = '', rest = ''] = text.split('\n');
    const headers = { signature, 'signature-input': rest, host: 'h', 'x-api-key': 'k' };
    const check = checkAudioHookSignature({ target: '/', headers, apiKey: 'k', clientSecret: 'AAAA', nowS: 1 });
    assert('refused' in check, 'a made-up signature was accepted');
  },
};
