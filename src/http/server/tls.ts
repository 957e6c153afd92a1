/** The server's own TLS. */
import type { FastifyInstance, RawServerDefault } from 'fastify';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import { Notices } from '../../foundation/log/notices.ts';
import type { ServerCertificate } from '../../foundation/tls/server-certificate.ts';

interface NoticeOptions {
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
}

/** A client that opens a connection and says nothing is given up after so long. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

/**
 * Fastify's options for it; none without a certificate. Its types have servers of one kind alone: one with TLS differs
 * by what only this file touches.
 */
export function speakTls(certificate: ServerCertificate | null): { readonly https?: null } {
  if (certificate === null) return {};
  const https = { ...certificate.options, handshakeTimeout: HANDSHAKE_TIMEOUT_MS };
  return { https: https as unknown as null };
}

/** First byte of a TLS record with a handshake (RFC 8446 §5.1). */
const TLS_HANDSHAKE = 0x16;
/** Anybody can cause it. */
const NOTICE_PERIOD_MS = 60_000;
const COMPLAINTS = {
  tls: 'a client spoke TLS to this port, which speaks http: for https and wss it needs TLS_CERT and TLS_KEY',
  http: 'a client spoke http to this port, which speaks https alone (TLS_CERT): give it an address with https or wss',
} as const;

/** Tells in the log that clients speak TLS where there is none, or none where there is: they see a riddle. */
export function noticeOtherSpeech(app: FastifyInstance, { clock, log }: NoticeOptions): void {
  const notices = new Notices(clock, NOTICE_PERIOD_MS);
  app.server.on('clientError', ({ code, rawPacket }: Error & { code?: string; rawPacket?: Uint8Array }) => {
    const spoken = code === 'ERR_SSL_HTTP_REQUEST' ? 'http' : rawPacket?.[0] === TLS_HANDSHAKE ? 'tls' : null;
    if (spoken !== null && notices.isDue('speech')) log.warn(COMPLAINTS[spoken]);
  });
}

/** Has `app` use a renewed certificate for new connections; those that are open go on. */
export function renewTls(app: FastifyInstance, certificate: ServerCertificate | null): void {
  if (certificate === null) return;
  const server = app.server as RawServerDefault & { setSecureContext(options: object): void };
  certificate.onChange = () => server.setSecureContext(certificate.options);
  app.addHook('onClose', async () => certificate.close());
}
