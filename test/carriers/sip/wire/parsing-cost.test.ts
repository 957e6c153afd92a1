import { describe, expect, it } from 'vitest';
import { SipFault } from '../../../../src/carriers/sip/wire/fault.ts';
import {
  SIP_INTERPRETED_MAX_CHARS,
  SIP_INTERPRETED_MAX_VALUES,
  sipWeight,
} from '../../../../src/carriers/sip/wire/parsing-cost.ts';
import { receiveSip } from '../../../../src/carriers/sip/wire/received-message.ts';
import { displayNameOf, userOf } from '../../../../src/carriers/sip/wire/uris.ts';

const SOURCE = { protocol: 'UDP', address: '192.0.2.7', port: 5062 } as const;
const NAMES = [
  'Via: SIP/2.0/UDP 192.0.2.7;branch=z9hG4bKa',
  'From: <sip:a@h>;tag=1',
  'To: <sip:b@h>',
  'Call-ID: c',
  'CSeq: 1 OPTIONS',
];
const NAME_CHARS = '<sip:a@h>;tag=1'.length + '<sip:b@h>'.length;

const options = (...more: string[]): string => `${['OPTIONS sip:b@h SIP/2.0', ...NAMES, ...more].join('\r\n')}\r\n\r\n`;

function faultOf(text: string): SipFault | null {
  try {
    receiveSip(text, SOURCE, 'sip:trunkline@198.51.100.1');
    return null;
  } catch (error) {
    if (error instanceof SipFault) return error;
    throw error;
  }
}

describe('what the grammar of the stack would have to read', () => {
  const room = SIP_INTERPRETED_MAX_CHARS - NAME_CHARS;

  it.each(['Contact', 'm', 'Record-Route', 'Refer-To', 'Content-Type', 'WWW-Authenticate', 'Proxy-Authenticate'])(
    'is bounded: %s',
    (name) => {
      expect(faultOf(options(`${name}: ${'x'.repeat(room)}`))).toBeNull();
      expect(faultOf(options(`${name}: ${'x'.repeat(room + 1)}`))).toMatchObject({
        code: 'message_too_large',
        statusCode: 513,
      });
    },
  );

  it('is bounded in all headers together, and in From and To, too', () => {
    const half = 'x'.repeat(room / 2 + 1);
    expect(faultOf(options(`Contact: ${half}`, `Contact: ${half}`))).toMatchObject({ statusCode: 513 });
    for (const address of ['<sip:a@h>;tag=1', '<sip:b@h>']) {
      const long = options().replace(address, `${address};x=${'x'.repeat(room)}`);
      expect(faultOf(long)?.reason).toBe(
        'Message Too Large: got 4099 characters in From, To, Contact, Record-Route and similar headers, ' +
          'expected at most 4096',
      );
    }
  });

  it.each(['Contact', 'Record-Route'])('is bounded in values, too: %s', (name) => {
    // From and To are two of them.
    const values = (count: number): string => options(`${name}: ${Array(count).fill('<sip:a@h>').join(', ')}`);
    expect(faultOf(values(SIP_INTERPRETED_MAX_VALUES - 2))).toBeNull();
    const one = values(SIP_INTERPRETED_MAX_VALUES - 1);
    expect(faultOf(one)).toMatchObject({ code: 'message_too_large', statusCode: 513 });
    expect(sipWeight(one)).toBe(one.length);
  });

  it('leaves out what nobody interprets', () => {
    expect(faultOf(options(`Subject: ${'x'.repeat(20_000)}`))).toBeNull();
    expect(sipWeight(options(`Subject: ${'x'.repeat(2000)}`))).toBe(options().length + 2011);
  });

  it('counts a body, which nobody interprets, an eighth', () => {
    expect(sipWeight(`${options()}${'x'.repeat(8000)}`)).toBe(options().length + 1000);
  });

  it('weighs as much as it takes to read it, and nothing more where it is not read', () => {
    const telephones = options('Contact: <sip:a@192.0.2.7:5062>');
    expect(sipWeight(telephones)).toBe(telephones.length);
    const long = options(`Record-Route: ${'x'.repeat(2048)}`);
    expect(sipWeight(long)).toBe(long.length + 4 * (2048 + NAME_CHARS - 512));
    const refused = options(`Record-Route: ${'x'.repeat(8192)}`);
    expect(sipWeight(refused)).toBe(refused.length);
  });
});

describe('an address made to be read for ever', () => {
  /** It is at once: in the square of its length it would be ten seconds. */
  const CHARS = 100_000;

  it.each([
    ['user', () => userOf('<'.repeat(CHARS)), null],
    ['user in a name', () => userOf(`"${'<'.repeat(CHARS)}" <sip:a@h>`), 'a'],
    ['name', () => displayNameOf(`"${'\\"'.repeat(CHARS)}`), null],
  ])('has its %s read once', (_, read, expected) => {
    const startedMs = performance.now();
    expect(read()).toBe(expected);
    expect(performance.now() - startedMs).toBeLessThan(5000);
  });
});
