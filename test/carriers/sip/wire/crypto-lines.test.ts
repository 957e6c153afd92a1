/** Keys in session descriptions (RFC 4568), with lines as vendors write them. */
import { describe, expect, it } from 'vitest';
import { type LocalSecurity, makeSrtpKeys, type SrtpPolicy } from '../../../../src/carriers/sip/wire/crypto-lines.ts';
import {
  acceptAnswer,
  answerOffer,
  type LocalMedia,
  makeOffer,
} from '../../../../src/carriers/sip/wire/offer-answer.ts';
import { parseSdp } from '../../../../src/carriers/sip/wire/session-description.ts';
import { TrunklineError } from '../../../../src/foundation/errors.ts';
import { LOCAL, offer } from './offers.ts';

let filler = 0;
const keys = makeSrtpKeys((bytes) => Buffer.alloc(bytes, ++filler));
const THEIRS = Buffer.alloc(30, 0xaa).toString('base64');
const LINE_80 = `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${THEIRS}`;
const LINE_32 = `a=crypto:2 AES_CM_128_HMAC_SHA1_32 inline:${THEIRS}`;

function local(policy: SrtpPolicy, offers: LocalSecurity['offers'] = 'plain'): LocalMedia {
  return { ...LOCAL, security: { policy, keys, offers } };
}

/** `RTP/AVP` and so on of our answer's stream, its suite, and whether keys were agreed on; the code of a refusal. */
function answered(policy: SrtpPolicy, ...lines: string[]): string {
  try {
    const { sdp, remote } = answerOffer(parseSdp(offer(...lines)), local(policy));
    const [, protocol] = /^m=audio [1-9]\d* (\S+)/m.exec(sdp) ?? [];
    const [, tag, suite] = /^a=crypto:(\d+) (\S+)/m.exec(sdp) ?? [];
    return [protocol, tag ?? '-', suite?.slice(-2) ?? '-', remote.srtp === null ? 'clear' : 'secured'].join(' ');
  } catch (error) {
    if (error instanceof TrunklineError) return error.code;
    throw error;
  }
}

describe('an offer', () => {
  const savp = 'm=audio 4000 RTP/SAVP 0';
  const avp = 'm=audio 4000 RTP/AVP 0';
  it.each<[SrtpPolicy, readonly string[], string]>([
    ['off', [avp], 'RTP/AVP - - clear'],
    ['off', [avp, LINE_80], 'RTP/AVP - - clear'],
    ['off', [savp, LINE_80], 'codec_unsupported'],
    ['allow', [avp], 'RTP/AVP - - clear'],
    ['allow', [avp, LINE_80], 'RTP/AVP 1 80 secured'],
    ['allow', [savp, LINE_80, LINE_32], 'RTP/SAVP 1 80 secured'],
    ['allow', [savp, LINE_32, LINE_80], 'RTP/SAVP 2 32 secured'],
    ['allow', [savp], 'codec_unsupported'],
    ['allow', ['m=audio 4000 RTP/SAVPF 0', LINE_80], 'RTP/SAVPF 1 80 secured'],
    ['allow', ['m=audio 4000 UDP/TLS/RTP/SAVP 0', LINE_80], 'codec_unsupported'],
    ['allow', [avp, 'm=audio 4002 RTP/SAVP 0', LINE_80], 'RTP/SAVP 1 80 secured'],
    ['require', [avp], 'codec_unsupported'],
    ['require', [avp, LINE_80], 'RTP/AVP 1 80 secured'],
    ['require', [savp, LINE_80], 'RTP/SAVP 1 80 secured'],
  ])('%s: %s → %s', (policy, lines, expected) => {
    expect(answered(policy, ...lines)).toBe(expected);
  });

  it.each([
    [`${LINE_80}|2^31`, true],
    [`${LINE_80}|2^31|1:1`, true],
    [`${LINE_80}|1:4`, true],
    [`${LINE_80}|1048576|255:1`, true],
    [`${LINE_80} WSH=64`, true],
    [`${LINE_80} -KDR=3`, true],
    [`${LINE_80}|2^31|256:1`, false],
    [`${LINE_80}|2^31|1:0`, false],
    [`${LINE_80}|2^31|1:200`, false],
    [`${LINE_80} KDR=3`, false],
    [`${LINE_80} UNENCRYPTED_SRTP`, false],
    [`${LINE_80};inline:${THEIRS}|2^31|2:1`, false],
    ['a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:short', false],
    [`a=crypto:1 AEAD_AES_256_GCM inline:${THEIRS}`, false],
    [`a=crypto:x AES_CM_128_HMAC_SHA1_80 inline:${THEIRS}`, false],
  ])('with %s is taken: %s', (line, isTaken) => {
    expect(answered('require', savp, line)).toBe(isTaken ? 'RTP/SAVP 1 80 secured' : 'codec_unsupported');
  });

  it('names the key of its packets in as many bytes as it says', () => {
    const { remote } = answerOffer(parseSdp(offer(savp, `${LINE_80}|2^31|258:4`)), local('allow'));
    expect(Buffer.from(remote.srtp?.theirs.identifier ?? []).toString('hex')).toBe('00000102');
    expect(remote.srtp?.ours).toBe(keys[0]);
    expect(Buffer.from(remote.srtp?.theirs.key ?? [])).toEqual(Buffer.alloc(16, 0xaa));
    expect(Buffer.from(remote.srtp?.theirs.salt ?? [])).toEqual(Buffer.alloc(14, 0xaa));
  });
});

describe('an offer of ours', () => {
  it.each([
    ['plain', 'RTP/AVP', 0],
    ['either', 'RTP/AVP', 2],
    ['secured', 'RTP/SAVP', 2],
  ] as const)('%s is %s with %d keys', (offers, protocol, count) => {
    const sdp = makeOffer(local('allow', offers));
    expect(/^m=audio \d+ (\S+)/m.exec(sdp)?.[1]).toBe(protocol);
    expect(sdp.match(/^a=crypto:/gm) ?? []).toHaveLength(count);
  });

  it.each<[LocalSecurity['offers'], readonly string[], string]>([
    ['plain', ['m=audio 4000 RTP/AVP 0'], 'clear'],
    ['plain', ['m=audio 4000 RTP/SAVP 0', LINE_80], 'codec_unsupported'],
    ['either', ['m=audio 4000 RTP/AVP 0'], 'clear'],
    ['either', ['m=audio 4000 RTP/AVP 0', LINE_80], 'secured 80'],
    ['secured', ['m=audio 4000 RTP/SAVP 0', LINE_32], 'secured 32'],
    ['secured', ['m=audio 4000 RTP/SAVP 0'], 'codec_unsupported'],
    ['secured', ['m=audio 4000 RTP/AVP 0'], 'codec_unsupported'],
  ])('%s, answered by %s → %s', (offers, lines, expected) => {
    const outcome = (): string => {
      try {
        const { srtp } = acceptAnswer(parseSdp(offer(...lines)), local('allow', offers));
        return srtp === null ? 'clear' : `secured ${srtp.ours.suite.slice(-2)}`;
      } catch (error) {
        return error instanceof TrunklineError ? error.code : String(error);
      }
    };
    expect(outcome()).toBe(expected);
  });
});
