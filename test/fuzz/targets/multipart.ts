import assert from 'node:assert/strict';
import { SipFault } from '../../../src/carriers/sip/wire/fault.ts';
import { readMultipart } from '../../../src/carriers/sip/wire/multipart.ts';
import { openBody } from '../../../src/carriers/sip/wire/received-body.ts';
import type { FuzzTarget } from '../fuzz.ts';

const body = [
  '--b',
  'Content-Type: application/sdp',
  '',
  'v=0',
  '--b',
  'Content-Type:application/rs-metadata',
  '',
  '<a/>',
];

/** The first line is the value of Content-Type, the rest the body. Only faults; what comes out was there before. */
export const target: FuzzTarget = {
  name: 'multipart',
  seeds: [
    `multipart/mixed; boundary=b\n${body.join('\n')}\n--b--\n`,
    `multipart/mixed;boundary="b"\npreamble\r\n${body.join('\r\n')}\r\n--b--  \r\nrest`,
    `multipart/mixed\n${body.join('\n').replace('Content-T', 'Content-Disposition: x;handling=required\nContent-T')}`,
    'application/rs-metadata+xml\n<a/>',
  ].map((text) => Buffer.from(text)),
  words: ['--b', '--', '\r\n\r\n', 'boundary=', '"', '\\', ';handling=required', 'recording-session', 'c:', ' \t'],
  run(input) {
    const text = Buffer.from(input).toString('latin1');
    const end = text.indexOf('\n');
    const [contentType, content] = [text.slice(0, Math.max(0, end)), text.slice(end + 1)];
    try {
      const parts = readMultipart(content, contentType);
      assert(parts.length <= 16, `${parts.length} parts`);
      const sum = parts.reduce((all, part) => all + part.content.replaceAll('\r\n', '').length, 0);
      assert(sum <= content.length, 'more than there was');
    } catch (error) {
      if (!(error instanceof SipFault)) throw error;
    }
    try {
      const opened = openBody('INVITE', contentType, content);
      assert(opened.content === '' || opened.contentType !== '' || contentType === '', 'a body without a type');
    } catch (error) {
      if (!(error instanceof SipFault)) throw error;
    }
  },
};
