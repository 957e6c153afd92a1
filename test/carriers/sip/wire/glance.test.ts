import { describe, expect, it } from 'vitest';
import { glanceSip } from '../../../../src/carriers/sip/wire/glance.ts';
import { message, options, VIA } from './messages.ts';

describe('glanceSip', () => {
  it('finds the names of a request, however they are written', () => {
    const names = { kind: 'request', method: 'BYE', branch: 'z9hG4bKa', callId: 'c@h', fromTag: '1', toTag: 'ours' };
    const long = [
      'BYE sip:b@h SIP/2.0',
      VIA,
      'From: "A;tag=x" <sip:a@h>;tag=1',
      'To: <sip:b@h>;tag=ours',
      'Call-ID: c@h',
      'CSeq: 2 BYE',
    ];
    const short = [
      'BYE sip:b@h SIP/2.0',
      'v:SIP/2.0/UDP h; branch = z9hG4bKa',
      'f : <sip:a@h>; tag=1;x=y',
      't:<sip:b@h> ;tag = ours',
      'i:c@h',
      'CSEQ:2 BYE',
    ];
    expect(glanceSip(message(long))).toEqual(names);
    expect(glanceSip(message(short))).toEqual(names);
  });

  it('finds nothing where nothing is, and tells an answer', () => {
    expect(glanceSip('SIP/2.0 200 OK\r\n\r\n')).toEqual({
      kind: 'response',
      method: '',
      branch: '',
      callId: '',
      fromTag: '',
      toTag: '',
    });
    expect(glanceSip(options())).toMatchObject({ toTag: '' });
  });
});
