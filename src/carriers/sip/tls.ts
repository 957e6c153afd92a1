/** SIP over TLS (RFC 3261 §26.2): connections whose far end has shown by a certificate who it is. */
import { constants } from 'node:crypto';
import { createServer, isIP, type Server, type Socket } from 'node:net';
import {
  checkServerIdentity,
  connect,
  createServer as createTlsServer,
  type PeerCertificate,
  TLSSocket,
  type TlsOptions,
} from 'node:tls';
import type { Timer } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import { type ConnectionOptions, Connections } from './connections.ts';
import { HandshakeLimit } from './request-limit.ts';
import type { TlsFiles } from './tls-files.ts';
import { type SipSocket, withoutMapping } from './udp.ts';
import { namesSipDomain } from './wire/certificate-names.ts';
import type { SipDestination } from './wire/uris.ts';

/** How long a handshake may take, whatever comes in meanwhile. */
const HANDSHAKE_MS = 5000;
/** Failures to connect that are remembered, so that each is logged once. */
const FAILURES_MAX = 100;

interface SipTlsOptions extends ConnectionOptions {
  readonly address: string;
  /** 0 = any free one; null = peers cannot connect, and only we do. */
  readonly port: number | null;
  readonly files: TlsFiles;
  /** Whether peers that connect must show a certificate that SIP_TLS_CA has signed. */
  readonly verifiesPeers: boolean;
  readonly log: Log;
}

/** Listens, and opens connections where none is open yet. Rejects when it cannot listen. */
export async function openTls(options: SipTlsOptions): Promise<SipSocket> {
  const failures = new Failures(options.log);
  const connections = new Connections({
    ...options,
    protocol: 'TLS',
    ready: 'secureConnect',
    dial: (destination) => dial(destination, options.files),
    reaches: isEndOf,
    onFailed: (destination, error) => failures.log(destination, error),
  });
  const door = options.port === null ? null : new Door(options, connections);
  const port = (await door?.listen(options.port ?? 0)) ?? 0;
  return {
    protocol: 'TLS',
    port,
    send: (text, destination) => connections.send(text, destination),
    has: (destination) => connections.has(destination),
    disconnect: (destination) => connections.disconnect(destination),
    close: async () => {
      const closed = door?.close();
      connections.close();
      await closed;
    },
  };
}

/** Where peers connect. Whoever is not admitted is cut off before it costs a handshake. */
class Door {
  readonly #options: SipTlsOptions;
  readonly #connections: Connections;
  readonly #limit: HandshakeLimit;
  readonly #tls: Server;
  readonly #tcp: Server;
  /** Handshakes that are not complete, by the far end. */
  readonly #pending = new Map<string, { readonly socket: Socket; readonly address: string; readonly timer: Timer }>();

  constructor(options: SipTlsOptions, connections: Connections) {
    this.#options = options;
    this.#connections = connections;
    this.#limit = new HandshakeLimit(options.clock);
    const server = createTlsServer(serverOptions(options), (socket) => this.#enter(socket));
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    options.files.onChange = () => server.setSecureContext(serverOptions(options));
    this.#tls = server;
    this.#tcp = createServer((socket) => this.#knock(socket));
  }

  async listen(port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#tcp.once('error', reject);
      this.#tcp.listen(port, this.#options.address, resolve);
    });
    this.#tcp.removeAllListeners('error');
    this.#tcp.on('error', () => undefined);
    const bound = this.#tcp.address();
    return typeof bound === 'object' ? (bound?.port ?? 0) : 0;
  }

  close(): Promise<void> {
    for (const { socket } of this.#pending.values()) socket.destroy();
    return new Promise((resolve) => {
      this.#tcp.close(() => resolve());
    });
  }

  #knock(socket: Socket): void {
    const { clock, onRefused } = this.#options;
    const address = withoutMapping(socket.remoteAddress ?? '');
    const fromThere = [...this.#pending.values()].filter((each) => each.address === address).length;
    const isWelcome = this.#connections.isWelcome(address, { all: this.#pending.size, fromThere });
    socket.on('error', () => undefined);
    if (!isWelcome || !this.#limit.take(address)) {
      onRefused(address);
      socket.destroy();
      return;
    }
    const key = keyOf(socket);
    const timer = clock.after(HANDSHAKE_MS, () => {
      onRefused(address);
      socket.destroy();
    });
    this.#pending.set(key, { socket, address, timer });
    socket.once('close', () => this.#settle(key));
    this.#tls.emit('connection', socket);
  }

  #enter(socket: TLSSocket): void {
    this.#settle(keyOf(socket));
    this.#connections.enter(socket);
  }

  #settle(key: string): void {
    this.#pending.get(key)?.timer.cancel();
    this.#pending.delete(key);
  }
}

function serverOptions({ files, verifiesPeers }: SipTlsOptions): TlsOptions {
  return {
    ...files.options,
    // A peer could have us compute without end.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    requestCert: verifiesPeers,
    rejectUnauthorized: verifiesPeers,
  };
}

function dial(destination: SipDestination, files: TlsFiles): TLSSocket {
  const { host, port, name = host } = destination;
  return connect({
    host,
    port,
    secureContext: files.context,
    ...(isIP(name) === 0 ? { servername: name } : {}),
    checkServerIdentity: (_host, certificate) => checkName(name, certificate),
  });
}

/** The name of RFC 5922 §7.2: a SIP domain of the certificate, else a host name or address as HTTPS takes them. */
function checkName(name: string, certificate: PeerCertificate): Error | undefined {
  if (namesSipDomain(certificate.subjectaltname ?? '', name)) return undefined;
  return checkServerIdentity(name, certificate);
}

/** Whether the certificate at the end of a connection is for whom a message is for. */
function isEndOf(socket: Socket, { name }: SipDestination): boolean {
  if (name === undefined || !(socket instanceof TLSSocket)) return true;
  return checkName(name, socket.getPeerCertificate()) === undefined;
}

function keyOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Logs why connections cannot be made: each reason once for each peer. */
class Failures {
  readonly #log: Log;
  readonly #known = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  log({ host, port, name = host }: SipDestination, error: Error): void {
    const { code = error.message } = error as NodeJS.ErrnoException;
    const key = `${name} ${port} ${code}`;
    if (this.#known.has(key) || this.#known.size >= FAILURES_MAX) return;
    this.#known.add(key);
    this.#log.warn({ peer: name, port, code, hint: hintFor(code) }, 'no TLS connection to a SIP peer');
  }
}

/** What helps against an error of OpenSSL or Node; undefined where nobody knows. */
function hintFor(code: string): string | undefined {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'the certificate is for another name: use the one that it has';
  if (/^CERT_HAS_EXPIRED|^CERT_NOT_YET_VALID/.test(code)) return 'the certificate of the peer is out of date';
  if (/WRONG_VERSION|UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION/.test(code))
    return 'the peer speaks no TLS 1.2 there: is the port right?';
  // An alert names what the peer lacks, such as CERTIFICATE_REQUIRED; other codes with CERT are our own judgement.
  if (/HANDSHAKE_FAILURE|ALERT|ECONNRESET/.test(code)) return 'the peer may want a certificate: SIP_TLS_CERT';
  if (/CERT|SELF_SIGNED|ISSUER|LEAF_SIGNATURE/.test(code)) return 'SIP_TLS_CA: name a file with the CA of the peer';
  return undefined;
}
