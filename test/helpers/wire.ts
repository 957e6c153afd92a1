import type { WireMessage } from '../../src/protocols/dialect.ts';

const BINARY = /^\{"binary":"([^"]*)"\}$/;

/** A line of a stream under fixtures/wire: a text, or the bytes of a binary message. */
export function toMessage(line: string): WireMessage {
  const [, bytes] = BINARY.exec(line) ?? [];
  return bytes === undefined ? line : Buffer.from(bytes, 'base64');
}
