import assert from 'node:assert/strict';
import { SipFault } from '../../../src/carriers/sip/wire/fault.ts';
import { type ReferRequest, readRefer } from '../../../src/carriers/sip/wire/refer-request.ts';
import { replacedBy, writeReplaces } from '../../../src/carriers/sip/wire/replaces.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** What somebody asks us to call: Refer-To, then other headers, one a line. */
export const target: FuzzTarget = {
  name: 'refer-request',
  seeds: [
    '<sip:6002@192.0.2.20>\nreferred-by:<sip:a@b>;cid="x"\nrefer-sub:false',
    '"A \\" B" <sip:b@[::1]:5070;user=phone?Replaces=a%40b%3Bto-tag%3D1%3Bfrom-tag%3D2&Require=replaces>;x=y',
    'tel:+4930123;phone-context=x\nreplaces:a@b;to-tag=1;from-tag=2\nreplaces:c',
    'sips:a?b@c;method=INVITE',
    '<sip:?Subject=x>',
  ].map((text) => Buffer.from(text)),
  words: ['<', '>', '?', '&', '=', ';', '%', '%0d%0a', 'Replaces=', 'to-tag=', 'early-only', 'method=', 'tel:', 'sip:'],
  run(input) {
    const [to = '', ...lines] = Buffer.from(input).toString('latin1').split('\n');
    const getHeaders = (name: string): string[] =>
      lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1));
    const message = { getHeaders, getHeader: (name: string) => getHeaders(name)[0] };
    const refer = orFault(() => readRefer(message, [to]));
    if (refer !== null) check(refer);
    const replaced = orFault(() => replacedBy(message));
    if (replaced !== null) assert.doesNotMatch(writeReplaces(replaced), /[\p{Cc}\s]/u);
  },
};

/** Nothing of it may leave the header that it is written to. */
function check({ uri, replaces, referredBy }: ReferRequest): void {
  assert.match(uri, /^(?:sips?|tel):[^\s<>"]+$/i);
  if (replaces !== null) {
    const again = replacedBy({ getHeaders: () => [writeReplaces(replaces)], getHeader: () => undefined });
    assert.deepEqual(again, replaces);
  }
  assert.doesNotMatch(referredBy ?? '', /[\r\n\0]/);
}

function orFault<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    assert(error instanceof SipFault);
    return null;
  }
}
