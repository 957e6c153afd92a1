import assert from 'node:assert/strict';
import { isAboutRefer, readReferProgress, referTarget } from '../../../src/carriers/sip/wire/refer.ts';
import { hostOf } from '../../../src/carriers/sip/wire/uris.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** Whom a call is given to, and what a NOTIFY tells of it: the target, then headers, one a line, then the body. */
export const target: FuzzTarget = {
  name: 'refer',
  seeds: [
    '6002\nevent: refer;id=9\nsubscription-state: terminated;x=y\ncontent-type: message/sipfrag\n\nSIP/2.0 200',
    '+49 (30) 123-456\nevent: message-summary\n\n',
    'sip:sales@[::1]:5070;transport=tcp\nsubscription-state: on\ncontent-type: message/sipfrag;x=1\n\nSIP/2.0 180 R',
  ].map((text) => Buffer.from(text)),
  words: [
    'sip:',
    'sips:',
    'tel:',
    '@',
    '<',
    '>',
    '?',
    '%23',
    '\r\n',
    'SIP/2.0 ',
    '486',
    'terminated',
    'message/sipfrag',
  ],
  run(input) {
    const text = Buffer.from(input).toString('latin1');
    const [to = '', ...lines] = text.split('\n');
    const uri = referTarget(to, '192.0.2.7:5062');
    if (uri !== null) {
      assert(!/[\s<>"?\0]/.test(uri), `${JSON.stringify(uri)} would leave its header`);
      assert(uri.toLowerCase().startsWith('tel:') || hostOf(uri) !== null, `${uri} leads nowhere`);
    }
    const getHeader = (name: string): string | undefined =>
      lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1);
    const message = { getHeader, getHeaders: () => [], body: text.slice(text.indexOf('\n\n') + 2) };
    const { statusCode } = readReferProgress(message);
    assert(statusCode === null || (statusCode >= 100 && statusCode < 700));
    isAboutRefer(message);
  },
};
