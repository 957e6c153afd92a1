/** A SIP registrar over UDP that takes everybody, and remembers who is there (RFC 3261 §10). */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A registrar of one test. */
export interface TestRegistrar {
  /** `sip:127.0.0.1:<port>` */
  readonly uri: string;
  /** The ports of the contacts that are registered now, in the order in which they came. */
  contacts(): readonly number[];
  close(): void;
}

/** Listens on a free port of loopback. */
export async function startRegistrar(): Promise<TestRegistrar> {
  const socket = createSocket('udp4');
  const contacts = new Set<number>();
  socket.on('message', (bytes, from) => {
    const request = bytes.toString('utf8');
    const [, method] = /^(\w+) /.exec(request) ?? [];
    if (method === undefined || method === 'SIP') return;
    const [, port, expires] = /^Contact: <sip:[^>]*:(\d+)[^>]*>;expires=(\d+)/im.exec(request) ?? [];
    if (method === 'REGISTER' && Number(expires) > 0) contacts.add(Number(port));
    if (method === 'REGISTER' && Number(expires) === 0) contacts.delete(Number(port));
    const copied = request.split('\r\n').filter((line) => /^(?:via|from|to|call-id|cseq|contact):/i.test(line));
    const lines = ['SIP/2.0 200 OK', ...copied, 'Content-Length: 0', '', ''];
    socket.send(lines.join('\r\n').replace(/^To: (.*)$/im, 'To: $1;tag=registrar'), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    uri: `sip:127.0.0.1:${socket.address().port}`,
    contacts: () => [...contacts],
    close: () => socket.close(),
  };
}
