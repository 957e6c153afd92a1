import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerOffer } from '../../../../src/carriers/sip/wire/offer-answer.ts';
import { parseSdp } from '../../../../src/carriers/sip/wire/session-description.ts';
import { codeOf } from '../../../helpers/codes.ts';
import { LOCAL, offer } from './offers.ts';

describe('parseSdp', () => {
  it('takes any line ends', () => {
    const text = offer('m=audio 4000 RTP/AVP 0', 'a=sendonly');
    expect(parseSdp(text.replaceAll('\r\n', '\n'))).toEqual(parseSdp(text));
  });

  it('throws nothing but coded errors', () => {
    const line = fc.oneof(
      fc.string(),
      fc
        .tuple(fc.constantFrom('v', 'o', 's', 'c', 't', 'm', 'a'), fc.string())
        .map(([type, value]) => `${type}=${value}`),
      fc.constantFrom(
        ...offer('m=audio 4000 RTP/AVP 0 101', 'a=rtpmap:101 telephone-event/8000', 'a=ptime:20', 'a=rtcp:1').split(
          '\r\n',
        ),
      ),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
        const code = codeOf(() => answerOffer(parseSdp(['v=0', ...lines].join('\r\n')), LOCAL));
        expect(['message_malformed', 'message_too_large', 'codec_unsupported', 'none']).toContain(code);
      }),
    );
  });
});
