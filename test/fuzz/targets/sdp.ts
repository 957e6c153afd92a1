import assert from 'node:assert/strict';
import { acceptAnswer, answerOffer, type LocalMedia, makeOffer } from '../../../src/carriers/sip/wire/offer-answer.ts';
import { parseSdp } from '../../../src/carriers/sip/wire/session-description.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { LOCAL, offer } from '../../carriers/sip/wire/offers.ts';
import type { FuzzTarget } from '../fuzz.ts';

const EVERYTHING: LocalMedia = { ...LOCAL, codecs: ['opus', 'g722', 'mulaw', 'alaw'] };

const lines = (...own: string[]): Uint8Array => Buffer.from(offer(...own));

/**
 * Only coded errors; what is answered can be read again, has as many streams as were offered, and agrees on the same.
 */
export const target: FuzzTarget = {
  name: 'sdp',
  seeds: [
    Buffer.from(makeOffer(LOCAL)),
    Buffer.from(makeOffer(EVERYTHING)),
    lines('m=audio 4000 RTP/AVP 0 96 101', 'a=rtpmap:96 opus/48000/2', 'a=fmtp:96 useinbandfec=1;usedtx=1'),
    lines(
      'm=audio 4000 RTP/AVP 9 112 0 96',
      'a=rtpmap:112 PCMA/8000/1',
      'a=rtpmap:96 telephone-event/8000',
      'a=fmtp:96 0-16',
      'a=ptime:30',
    ),
    lines(
      'm=video 5000 RTP/AVP 31',
      'm=audio 4000 RTP/AVP 0',
      'c=IN IP4 0.0.0.0',
      'a=rtcp:53020 IN IP4 192.0.2.9',
      'a=sendonly',
    ),
    lines('m=audio 4000/2 RTP/AVPF 8 101', 'c=IN IP6 2001:db8::5', 'a=rtcp-mux', 'a=maxptime:40', 'a=inactive'),
    lines('m=audio 4000 RTP/SAVP 0', 'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:x'),
  ],
  words: [
    'a=rtpmap:',
    'a=ptime:',
    'm=audio 1 RTP/AVP 0',
    'c=IN IP4 ',
    'telephone-event/8000',
    '\r\n',
    '0.0.0.0',
    '::',
    'a=recvonly',
  ],
  run(input) {
    try {
      const offered = parseSdp(Buffer.from(input).toString('latin1'));
      const { sdp, remote } = answerOffer(offered, EVERYTHING);
      const answer = parseSdp(sdp);
      assert.equal(answer.media.length, offered.media.length);
      assert.equal(answer.media.filter(({ port }) => port !== 0).length, 1);
      const ours = acceptAnswer(answer, { ...EVERYTHING, direction: 'sendrecv' });
      assert.deepEqual(
        [ours.payloadType, ours.format, ours.events],
        [remote.payloadType, remote.format, remote.events],
      );
      assert.deepEqual([ours.sends, ours.receives], [remote.receives, remote.sends]);
      assert(
        remote.ptimeMs >= 10 && remote.ptimeMs <= 60 && remote.ptimeMs % 10 === 0,
        `packets of ${remote.ptimeMs} ms`,
      );
      assert(remote.port > 0 && (remote.rtcpPort === null || (remote.rtcpPort > 0 && remote.rtcpPort <= 65_535)));
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error;
    }
  },
};
