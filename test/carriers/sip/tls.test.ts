/** Peers that connect over TLS: who is let in, and rude ones. */
import { once } from 'node:events';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect, createServer, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTls } from '../../../src/carriers/sip/tls.ts';
import { TlsFiles } from '../../../src/carriers/sip/tls-files.ts';
import type { SipSocket } from '../../../src/carriers/sip/udp.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { ConfigError } from '../../../src/foundation/settings/config.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { eventually } from '../../helpers/eventually.ts';
import { tlsPath, tlsText } from '../../helpers/tls-files.ts';

const log = createLog('silent');
const FILES = {
  SIP_TLS_CERT: tlsPath('gateway.pem'),
  SIP_TLS_KEY: tlsPath('gateway.key'),
  SIP_TLS_CA: tlsPath('ca.pem'),
};
const MESSAGE = 'OPTIONS sip:x SIP/2.0\r\nContent-Length: 0\r\n\r\n';

let clock: FakeClock;
let files: TlsFiles;
let ours: SipSocket;
let messages: string[];
let refused: number;
let lost: number;
let sockets: Socket[];
let folder: string;

beforeEach(async () => {
  clock = new FakeClock();
  messages = [];
  refused = 0;
  lost = 0;
  sockets = [];
  folder = await mkdtemp(join(tmpdir(), 'tls-'));
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await ours?.close();
  files?.close();
  await rm(folder, { recursive: true });
});

async function listen(
  options: { readonly verifiesPeers?: boolean; readonly admits?: boolean; readonly settings?: typeof FILES } = {},
): Promise<void> {
  files = await TlsFiles.open(options.settings ?? FILES, { clock, log });
  ours = await openTls({
    address: '127.0.0.1',
    port: 0,
    clock,
    log,
    files,
    verifiesPeers: options.verifiesPeers ?? false,
    admits: () => options.admits ?? true,
    onRefused: () => void refused++,
    onMessage: (bytes, { protocol }) => void messages.push(`${protocol} ${bytes.toString().slice(0, 7)}`),
    onBroken: () => undefined,
    onLost: () => void lost++,
  });
}

function dial(options: ConnectionOptions = {}): TLSSocket {
  const socket = connect({ port: ours.port, host: '127.0.0.1', ca: tlsText('ca.pem'), ...options });
  socket.on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

function dialPlain(): Socket {
  const socket = connectTcp(ours.port, '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

const isClosed = (socket: Socket): boolean => socket.destroyed || socket.readableEnded;
const drain = (socket: Socket): Socket => socket.resume();

describe('a peer', () => {
  it('is heard over TLS 1.2 and 1.3, and not over anything older', async () => {
    await listen();
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
      dial({ minVersion: version, maxVersion: version }).write(MESSAGE);
    await eventually(() => expect(messages).toEqual(['TLS OPTIONS', 'TLS OPTIONS']));
    const old = dial({ minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' });
    await eventually(() => expect(isClosed(old)).toBe(true));
    expect(messages).toHaveLength(2);
  });

  it('that is not on the list is cut off before the handshake', async () => {
    await listen({ admits: false });
    const socket = dial();
    await eventually(() => expect(isClosed(socket)).toBe(true));
    expect([refused, socket.authorized]).toEqual([1, false]);
  });

  it('must have a certificate of our CA where that is asked for', async () => {
    await listen({ verifiesPeers: true });
    const bare = drain(dial());
    bare.write(MESSAGE);
    await eventually(() => expect(isClosed(bare)).toBe(true));
    expect(messages).toEqual([]);
    dial({ cert: tlsText('phone.pem'), key: tlsText('phone.key') }).write(MESSAGE);
    await eventually(() => expect(messages).toEqual(['TLS OPTIONS']));
  });
});

describe('a connection of ours', () => {
  it('that breaks when it has been in use is lost, and not told as one that could not be made', async () => {
    await listen();
    const warn = vi.spyOn(log, 'warn');
    const far = createServer({ cert: tlsText('phone.pem'), key: tlsText('phone.key') }, (socket) => {
      socket.on('error', () => undefined).on('data', () => socket.write('\r\n'));
    });
    far.on('connection', (socket: Socket) => sockets.push(socket));
    far.listen(0, '127.0.0.1');
    await once(far, 'listening');
    await ours.send(MESSAGE, { host: '127.0.0.1', port: (far.address() as AddressInfo).port });
    sockets[0]?.resetAndDestroy();
    await eventually(() => expect(lost).toBe(1));
    expect(warn).not.toHaveBeenCalled();
    far.close();
  });
});

describe('a rude peer', () => {
  it('that says nothing, or drips its handshake, is cut off after five seconds', async () => {
    await listen();
    const silent = drain(dialPlain());
    const slow = drain(dialPlain());
    // Connections are taken in their order: when a third one is there, the first two are.
    await Promise.all([once(silent, 'connect'), once(slow, 'connect')]);
    dial().write(MESSAGE);
    await eventually(() => expect(messages).toHaveLength(1));
    const hello = [0x16, 0x03, 0x01, 0x02, 0x00];
    for (const byte of hello) {
      slow.write(Uint8Array.of(byte));
      clock.advance(900);
    }
    await eventually(() => expect([isClosed(silent), isClosed(slow)]).toEqual([false, false]));
    clock.advance(600);
    await eventually(() => expect([isClosed(silent), isClosed(slow)]).toEqual([true, true]));
    expect(refused).toBe(2);
  });

  it('that speaks no TLS is cut off', async () => {
    await listen();
    const socket = drain(dialPlain());
    socket.write(MESSAGE);
    await eventually(() => expect(isClosed(socket)).toBe(true));
    expect(messages).toEqual([]);
  });

  it('with many half-open handshakes keeps itself out, and comes in when they are over', async () => {
    await listen();
    const half = Array.from({ length: 40 }, () => drain(dialPlain()));
    await eventually(() => expect(half.filter(isClosed)).toHaveLength(8));
    expect(refused).toBe(8);
    clock.advance(5100);
    await eventually(() => expect(half.every(isClosed)).toBe(true));
    dial().write(MESSAGE);
    await eventually(() => expect(messages).toEqual(['TLS OPTIONS']));
  });

  it('that connects again and again is slowed down', async () => {
    await listen();
    for (let i = 0; i < 50; i++) {
      const socket = dialPlain();
      await once(socket, 'connect');
      socket.destroy();
    }
    await eventually(() => expect(refused).toBe(0));
    const socket = drain(dialPlain());
    await eventually(() => expect(isClosed(socket)).toBe(true));
    clock.advance(1000);
    dial().write(MESSAGE);
    await eventually(() => expect(messages).toEqual(['TLS OPTIONS']));
  });
});

describe('the files', () => {
  const named = (name: string): string => join(folder, name);

  async function copied(certificate: string): Promise<typeof FILES> {
    await copyFile(tlsPath(`${certificate}.pem`), named('cert.pem'));
    await copyFile(tlsPath(`${certificate}.key`), named('key.pem'));
    return { ...FILES, SIP_TLS_CERT: named('cert.pem'), SIP_TLS_KEY: named('key.pem') };
  }

  const commonName = async (): Promise<string | string[] | undefined> => {
    const socket = dial({ rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { CN } = socket.getPeerCertificate().subject;
    socket.destroy();
    return CN;
  };

  it('are read again when they have changed, a key after its certificate', async () => {
    await listen({ settings: await copied('gateway') });
    expect(await commonName()).toBe('gateway.invalid');
    await copyFile(tlsPath('phone.pem'), named('cert.pem'));
    clock.advance(2100);
    // The pair before stays while the new one is not complete.
    expect(await commonName()).toBe('gateway.invalid');
    await copyFile(tlsPath('phone.key'), named('key.pem'));
    await eventually(async () => {
      clock.advance(2100);
      expect(await commonName()).toBe('phone.invalid');
    });
  });

  it.each([
    ['is missing', { SIP_TLS_CERT: '/nowhere.pem' }, /SIP_TLS_CERT: .*nowhere\.pem: cannot be read \(ENOENT\)/],
    ['is another', { SIP_TLS_KEY: tlsPath('gateway.pem') }, /SIP_TLS_KEY: got a file without a private key/],
    ['does not fit', { SIP_TLS_KEY: tlsPath('phone.key') }, /SIP_TLS_CERT and SIP_TLS_KEY: .*KEY_VALUES_MISMATCH/],
  ])('stop the start when one %s', async (_, changes, message) => {
    const opening = TlsFiles.open({ ...FILES, ...changes }, { clock, log });
    await expect(opening).rejects.toThrow(ConfigError);
    await expect(opening).rejects.toThrow(message);
  });
});
