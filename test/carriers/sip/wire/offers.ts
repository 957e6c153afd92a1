/** Session descriptions for tests. */
import type { LocalMedia } from '../../../../src/carriers/sip/wire/offer-answer.ts';

/** What we have to offer, at 198.51.100.7:16384. */
export const LOCAL: LocalMedia = {
  address: '198.51.100.7',
  port: 16_384,
  sessionId: '42',
  version: 1,
  codecs: ['mulaw', 'alaw'],
  direction: 'sendrecv',
  security: { policy: 'off', keys: [], offers: 'plain' },
};

/** A phone's offer: its streams' `m=` lines, each with what belongs to it. */
export function offer(...lines: string[]): string {
  return ['v=0', 'o=phone 7 3 IN IP4 192.0.2.1', 's=call', 'c=IN IP4 192.0.2.1', 't=0 0', ...lines, ''].join('\r\n');
}
