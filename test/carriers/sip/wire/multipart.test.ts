import { describe, expect, it } from 'vitest';
import { SipFault } from '../../../../src/carriers/sip/wire/fault.ts';
import { readMultipart } from '../../../../src/carriers/sip/wire/multipart.ts';
import { openBody } from '../../../../src/carriers/sip/wire/received-body.ts';

const BODY = [
  '--b1',
  'Content-Type: application/sdp',
  '',
  'v=0',
  's=-',
  '--b1',
  'Content-Type: text/x',
  '',
  'x',
  '--b1--',
];
const body = (end = '\r\n'): string => `${BODY.join(end)}${end}`;

const faultOf = (run: () => unknown): number | null => {
  try {
    run();
    return null;
  } catch (error) {
    if (error instanceof SipFault) return error.statusCode;
    throw error;
  }
};

describe('a body of several parts', () => {
  it.each([
    'multipart/mixed;boundary=b1',
    'multipart/mixed; boundary="b1"',
    'multipart/mixed; Boundary = "b1" ; charset=utf-8',
    "multipart/mixed;boundary='b1'",
    'multipart/mixed;boundary="\\b\\1"',
    'multipart/mixed',
    'multipart/mixed;boundary=another',
    'multipart/mixed;boundary=',
  ])('is cut by its boundary: %s', (contentType) => {
    for (const end of ['\r\n', '\n', '\r'])
      expect(readMultipart(body(end), contentType)).toMatchObject([
        { type: 'application/sdp', content: 'v=0\r\ns=-' },
        { type: 'text/x', content: 'x' },
      ]);
  });

  it.each([
    ['a preamble and an epilogue', `talk\r\n\r\n${body()}--b1\r\nContent-Type: text/late\r\n\r\nlate`],
    ['white space behind the delimiters', body().replaceAll('--b1', '--b1 \t')],
    ['no last delimiter', body().replace('--b1--\r\n', '')],
    ['no space behind the colons', body().replaceAll(': ', ':')],
    ['lengths that are wrong', body().replaceAll('Content-Type', 'Content-Length: 9999\r\nContent-Type')],
    ['folded headers', body().replaceAll('Content-Type: ', 'Content-Type:\r\n ')],
    ['the short name of the type', body().replaceAll('Content-Type', 'c')],
  ])('is read with %s', (_, text) => {
    expect(readMultipart(text, 'multipart/mixed;boundary=b1').map(({ type }) => type)).toEqual([
      'application/sdp',
      'text/x',
    ]);
  });

  it('does not take another line that begins like its boundary for one', () => {
    const text = body().replace('s=-', '--b12\r\n--b1-\r\ns=-');
    expect(readMultipart(text, 'multipart/mixed;boundary=b1')[0]?.content).toBe('v=0\r\n--b12\r\n--b1-\r\ns=-');
  });

  it('says what each part is for, and whether it must be understood', () => {
    const part = (disposition: string) => `--b1\r\nContent-Disposition: ${disposition}\r\n\r\nx\r\n`;
    const text = [part('Session; handling = required'), part('signal;handling="optional"'), part('recording-session')];
    expect(readMultipart(text.join(''), 'multipart/mixed;boundary=b1')).toMatchObject([
      { type: 'text/plain', disposition: 'session', isRequired: true },
      { disposition: 'signal', isRequired: false },
      { disposition: 'recording-session', isRequired: false },
    ]);
  });

  it('reads parts without content, without headers and without an empty line', () => {
    const text = '--b1\r\n--b1\r\n\r\nonly text\r\n--b1\r\nContent-Type: text/x\r\n--b1--';
    expect(readMultipart(text, 'multipart/mixed;boundary=b1')).toMatchObject([
      { type: 'text/plain', content: '' },
      { type: 'text/plain', content: 'only text' },
      { type: 'text/x', content: '' },
    ]);
  });

  it('is refused when nothing delimits its parts, or there is too much', () => {
    const type = 'multipart/mixed;boundary=b1';
    expect(faultOf(() => readMultipart('v=0\r\n', type))).toBe(400);
    expect(faultOf(() => readMultipart(`--${'x'.repeat(300)}\r\n\r\nx`, 'multipart/mixed'))).toBe(400);
    expect(faultOf(() => readMultipart('--b1\r\n\r\nx\r\n'.repeat(16), type))).toBeNull();
    expect(faultOf(() => readMultipart('--b1\r\n\r\nx\r\n'.repeat(17), type))).toBe(513);
    expect(faultOf(() => readMultipart(`--b1\r\n${'X: y\r\n'.repeat(33)}\r\nx`, type))).toBe(513);
  });
});

describe('what is taken of a body', () => {
  const type = 'multipart/mixed;boundary=b1';
  const parts = (...own: [string, string][]) =>
    own.map(([head, content]) => `--b1\r\n${head}\r\n\r\n${content}\r\n`).join('');
  const sdp: [string, string] = ['Content-Type: application/sdp', 'v=0'];

  it.each([
    ['Content-Type: application/rs-metadata+xml', true],
    ['Content-Type:application/rs-metadata', true],
    ['Content-Type: Application/RS-Metadata+XML; charset=utf-8', true],
    ['Content-Type: application/ +xml\r\nContent-Disposition:recording-session', true],
    ['Content-Disposition: recording-session;handling=required', true],
    ['Content-Type: application/rs-metadata-request', false],
    ['Content-Type: application/gtd\r\nContent-Disposition: signal;handling=optional', false],
  ])('metadata: %s', (head, isMetadata) => {
    for (const text of [parts(sdp, [head, '<r/>']), parts([head, '<r/>'], sdp)]) {
      const { contentType, content, metadata } = openBody('INVITE', type, text);
      expect([contentType, content.trim(), metadata?.trim()]).toEqual([
        'application/sdp',
        'v=0',
        isMetadata ? '<r/>' : undefined,
      ]);
    }
  });

  it('metadata alone leave nothing of it', () => {
    const text = Buffer.from('<r>ü</r>').toString('latin1');
    expect(openBody('UPDATE', 'application/rs-metadata+xml', text)).toEqual({
      contentType: '',
      content: '',
      metadata: '<r>ü</r>',
    });
  });

  it('a part that is required and unknown refuses the message', () => {
    const required: [string, string] = ['Content-Type: application/x\r\nContent-Disposition: x;handling=required', 'x'];
    expect(faultOf(() => openBody('INVITE', type, parts(sdp, required)))).toBe(415);
    expect(openBody('INFO', type, parts(required)).content).toBe(parts(required));
  });
});
