import assert from 'node:assert/strict';
import { acknowledgementOf } from '../../../src/carriers/sip/wire/reliable.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** The status of a provisional answer, then its headers, one a line. */
export const target: FuzzTarget = {
  name: 'reliable',
  seeds: ['180\nrequire: 100rel\nrseq: 1', '183\nrequire: timer, 100REL \nrseq:  4294967295 ', '200\nrseq: 0'].map(
    (text) => Buffer.from(text),
  ),
  words: ['require: ', 'rseq: ', '100rel', '183', '199', ',', '0', '\n', '\r'],
  run(input) {
    const [status = '', ...lines] = Buffer.from(input).toString('latin1').split('\n');
    const getHeaders = (name: string): string[] =>
      lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1));
    const getHeader = (name: string): string | undefined => getHeaders(name)[0];
    const header = acknowledgementOf({ getHeader, getHeaders, statusCode: Number(status), cseq: 7 });
    assert(header === null || /^RAck: \d{1,10} 7 INVITE$/.test(header), `${JSON.stringify(header)} is no RAck`);
  },
};
