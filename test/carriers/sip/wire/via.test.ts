import { describe, expect, it } from 'vitest';
import { glanceVia, noteSource, readVia, tagIn, transactionOf } from '../../../../src/carriers/sip/wire/via.ts';

const names = { method: 'INVITE', callId: 'c', fromTag: 'f', sequence: 1 };
const keyOf = (via: string, other: Partial<typeof names> = {}): string =>
  transactionOf(readVia(`SIP/2.0/UDP ${via}`), { ...names, ...other });

describe('readVia', () => {
  it('reads all parts, wherever there is space', () => {
    expect(readVia('SIP / 2.0 / TLS-SCTP   [2001:db8::1] : 5070 ; branch = z9hG4bKa ; rport;x="a;b"')).toEqual({
      version: '2.0',
      transport: 'TLS-SCTP',
      host: '[2001:db8::1]',
      port: 5070,
      branch: 'z9hG4bKa',
      parameters: ['branch=z9hG4bKa', 'rport', 'x="a;b"'],
    });
  });

  it.each([
    'SIP/2.0/UDP',
    'SIP/2.0/UDP h;',
    'SIP/2.0/UDP h;;a',
    'SIP/7.0/UDP h',
    'SIP/2.0/UDP h:0',
    'SIP/2.0/UDP h:65536',
    'SIP/2.0/UDP ::1',
    'SIP/2.0/UDP h;a="',
    '',
  ])('refuses %s', (via) => expect(() => readVia(via)).toThrow('SIP: got a Via that cannot be read'));

  it('refuses a branch that is too long to be kept', () => {
    expect(() => readVia(`SIP/2.0/UDP h;branch=z9hG4bK${'x'.repeat(250)}`)).toThrow('a Via that cannot be read');
  });

  it('takes a parameter without a value, and refuses more than the grammar reads in time', () => {
    expect(readVia('SIP/2.0/UDP h;rport=;branch=z9hG4bKa').branch).toBe('z9hG4bKa');
    expect(() => readVia(`SIP/2.0/UDP h${';a'.repeat(600)}`)).toThrow('a longer Via');
  });
});

describe('glanceVia', () => {
  it('has what can be read of one that is broken', () => {
    expect(glanceVia('SIP/7.0/UDP h;;branch=1;=;"')).toMatchObject({
      version: '7.0',
      host: 'h',
      parameters: ['branch=1'],
      branch: '1',
    });
    expect(glanceVia('HTTP/1.1 proxy')).toBeNull();
  });
});

describe('noteSource', () => {
  it('writes the whole in the form that everybody reads', () => {
    const via = readVia('sip / 2.0 / udp  H : 5070 ; branch = z9hG4bKa ;rport= 1');
    expect(noteSource(via, { protocol: 'UDP', address: '192.0.2.7', port: 9 })).toBe(
      'SIP/2.0/udp H:5070;branch=z9hG4bKa;received=192.0.2.7;rport=9',
    );
  });
});

describe('transactionOf', () => {
  it.each(['H;branch=z9hG4bKa', 'h:5060;branch=z9hG4bKa', 'h : 5060 ; branch = z9hG4bKa;rport'])(
    'is the same for %s',
    (via) => {
      expect(keyOf(via)).toBe(keyOf('h;branch=z9hG4bKa', { callId: 'other' }));
    },
  );

  it.each(['i;branch=z9hG4bKa', 'h:5061;branch=z9hG4bKa', 'h;branch=z9hG4bKb', 'h', 'h;branch=z9hG4bK'])(
    'is another for %s',
    (via) => {
      expect(keyOf(via)).not.toBe(keyOf('h;branch=z9hG4bKa'));
    },
  );

  it('is another for another method, but that of the INVITE for its ACK and CANCEL', () => {
    const [invite, ack, cancel, bye] = ['INVITE', 'ACK', 'CANCEL', 'BYE'].map((method) =>
      keyOf('h;branch=z9hG4bKa', { method }),
    );
    expect([ack, cancel]).toEqual([invite, invite]);
    expect(bye).not.toBe(invite);
  });

  it.each([{ callId: 'd' }, { fromTag: 'g' }, { sequence: 2 }])(
    'is another for %o where the branch is not unique',
    (other) => {
      expect(keyOf('h;branch=1', other)).not.toBe(keyOf('h;branch=1'));
      expect(keyOf('h;branch=1', { method: 'ACK' })).toBe(keyOf('h;branch=1'));
    },
  );
});

describe('tagIn', () => {
  it.each([
    ['<sip:a@h>;tag=1', '1'],
    ['sip:a@h ; x=y ; Tag = 1', '1'],
    ['"A;tag=x" <sip:a@h;tag=y>;tag=1', '1'],
    ['"A>;tag=x" <sip:a@h;tag=y>', ''],
    ['<sip:a@h>', ''],
    [`${'"\\"'.repeat(10_000)}`, ''],
  ])('of %s', (address, tag) => expect(tagIn(address)).toBe(tag));
});
