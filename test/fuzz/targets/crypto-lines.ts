import assert from 'node:assert/strict';
import { makeSrtpKeys } from '../../../src/carriers/sip/wire/crypto-lines.ts';
import { acceptAnswer, answerOffer } from '../../../src/carriers/sip/wire/offer-answer.ts';
import { parseSdp } from '../../../src/carriers/sip/wire/session-description.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { LOCAL, offer } from '../../carriers/sip/wire/offers.ts';
import type { FuzzTarget } from '../fuzz.ts';

const KEY = Buffer.alloc(30, 5).toString('base64');
const keys = makeSrtpKeys((bytes) => Buffer.alloc(bytes, 7));
const security = { policy: 'allow', keys, offers: 'secured' } as const;
const line = (suite: string, more = ''): string => `a=crypto:1 ${suite} inline:${KEY}${more}`;

/** Only coded errors; keys have their lengths, and both sides agree on the same ones. */
export const target: FuzzTarget = {
  name: 'crypto-lines',
  seeds: [
    line('AES_CM_128_HMAC_SHA1_80'),
    line('AES_CM_128_HMAC_SHA1_32', '|2^31|1:1'),
    line('AES_CM_128_HMAC_SHA1_80', '|1:4 WSH=64 -KDR=3'),
    `${line('AEAD_AES_256_GCM')}\r\n${line('AES_CM_128_HMAC_SHA1_32', '|2^48')}`,
    line('AES_CM_128_HMAC_SHA1_80', `;inline:${KEY}|2^31|2:1`),
  ].map((text) => Buffer.from(text)),
  words: ['a=crypto:', 'inline:', '|2^31', '|1:1', 'WSH=64', 'KDR=1', 'UNENCRYPTED_SRTP', 'AES_CM_128_HMAC_SHA1_80'],
  run(input) {
    try {
      const text = offer('m=audio 4000 RTP/SAVP 0', Buffer.from(input).toString('latin1'));
      const { sdp, remote } = answerOffer(parseSdp(text), { ...LOCAL, security });
      if (remote.srtp === null) return;
      const { ours, theirs } = remote.srtp;
      assert.deepEqual([theirs.key.length, theirs.salt.length], [16, 14]);
      assert(theirs.identifier.length <= 8);
      const answer = acceptAnswer(parseSdp(sdp), { ...LOCAL, security });
      assert.deepEqual(Buffer.from(answer.srtp?.theirs.key ?? []), Buffer.from(ours.key));
      assert.equal(answer.srtp?.ours.suite, theirs.suite);
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error;
    }
  },
};
