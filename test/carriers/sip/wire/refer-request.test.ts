import { describe, expect, it } from 'vitest';
import { readRefer } from '../../../../src/carriers/sip/wire/refer-request.ts';
import { readReplaces, replacedBy, writeReplaces } from '../../../../src/carriers/sip/wire/replaces.ts';

function read(target: string, headers: Readonly<Record<string, string>> = {}) {
  const getHeaders = (name: string): string[] => (headers[name] === undefined ? [] : [headers[name]]);
  return readRefer({ getHeaders, getHeader: (name) => headers[name] }, [target]);
}

describe('a REFER', () => {
  it.each([
    ['sip:6002@192.0.2.20', 'sip:6002@192.0.2.20'],
    ['sip:6002@192.0.2.20;transport=tls', 'sip:6002@192.0.2.20;transport=tls'],
    ['sip:6002@192.0.2.20 ; x=y', 'sip:6002@192.0.2.20'],
    ['<sip:6002@192.0.2.20;user=phone>;x=y', 'sip:6002@192.0.2.20;user=phone'],
    ['"A, <B>" <sip:a@b>', 'sip:a@b'],
    ['Desk 12 <sips:a@[::1]:5070>', 'sips:a@[::1]:5070'],
    ['<sip:a@b;method=INVITE>', 'sip:a@b'],
    ['<sip:a?b@c>', 'sip:a?b@c'],
    ['<tel:+49-30-123;phone-context=example.com>', 'tel:+49-30-123;phone-context=example.com'],
  ])('to %s', (value, uri) => {
    expect(read(value)).toMatchObject({ uri, replaces: null, requiresReplaces: false, isReported: true });
  });

  it('names the dialog that its call is to replace, as telephones write it', () => {
    const snom = '<sip:b@c?Replaces=5f1%40c%3Bfrom-tag%3Dab%2Ac%3Bto-tag%3D0>;x';
    expect(read(snom).replaces).toEqual({ callId: '5f1@c', toTag: '0', fromTag: 'ab*c', isEarlyOnly: false });
    const asterisk = 'sip:b@c:5061;transport=tls?Replaces=a%3Bto-tag%3D1%3Bfrom-tag%3D2';
    expect(read(asterisk)).toMatchObject({ uri: 'sip:b@c:5061;transport=tls', replaces: { callId: 'a' } });
    const early = '<sip:b@c?require=Replaces,x&replaces=a;to-tag=1;from-tag=2;early-only>';
    expect(read(early)).toMatchObject({ requiresReplaces: true, replaces: { isEarlyOnly: true } });
  });

  it('passes on who asked, unless that is signed', () => {
    expect(read('sip:a@b', { 'referred-by': '<sip:x@y>' }).referredBy).toBe('<sip:x@y>');
    expect(read('sip:a@b', { 'referred-by': '<sip:x@y>;cid="20398823.2UWQFN309shb3@y"' }).referredBy).toBeNull();
  });

  it.each([
    ['<sip:a@b', 400],
    ['<sip:a@b> x', 400],
    ['<sip:a@b?x=1&x=2>', 400],
    ['<sip:a@b?Subject=%ZZ>', 400],
    ['<sip:a@b?Subject=a%0d%0ab>', 400],
    [`<sip:${'a'.repeat(1100)}@b>`, 400],
    ['<sip:?Subject=x>', 400],
    ['<sip:a@?Subject=x>', 400],
    ['<sip:;method=INVITE>', 400],
    ['<sip:@b>', 400],
    ['<http://a>', 416],
    ['<tel:+>', 416],
    ['<sip:a@b;method=SUBSCRIBE>', 501],
  ])('to %s is refused', (value, statusCode) => {
    expect(() => read(value)).toThrow(expect.objectContaining({ statusCode }));
  });
});

describe('a Replaces', () => {
  it('is written as it is read', () => {
    const value = '425928@phone.example.com;to-tag=7743;from-tag=6472;early-only';
    expect(writeReplaces(readReplaces(value))).toBe(value);
    expect(readReplaces(' 1@b ; x=y ; To-Tag = 7 ; FROM-TAG=8')).toMatchObject({
      callId: '1@b',
      toTag: '7',
      fromTag: '8',
    });
  });

  it.each([
    'a@b',
    'a@b;to-tag=1',
    'a@b;to-tag=1;from-tag=',
    'a@b;to-tag=1;from-tag=2;to-tag=3',
    'a b;to-tag=1;from-tag=2',
    `${'a'.repeat(2000)};to-tag=1;from-tag=2`,
  ])('%s is refused', (value) => {
    expect(() => readReplaces(value)).toThrow(expect.objectContaining({ statusCode: 400 }));
  });

  it('comes once or not at all', () => {
    const message = (values: string[]) => ({ getHeaders: () => values, getHeader: () => values[0] });
    expect(replacedBy(message([]))).toBeNull();
    expect(() => replacedBy(message(['a;to-tag=1;from-tag=2', 'a;to-tag=1;from-tag=2']))).toThrow('2 headers');
  });
});
