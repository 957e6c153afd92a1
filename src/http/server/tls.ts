/** The server's own TLS. */
import type { FastifyInstance, RawServerDefault } from 'fastify';
import type { ServerCertificate } from '../../foundation/tls/server-certificate.ts';

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

/** Has `app` use a renewed certificate for new connections; those that are open go on. */
export function renewTls(app: FastifyInstance, certificate: ServerCertificate | null): void {
  if (certificate === null) return;
  const server = app.server as RawServerDefault & { setSecureContext(options: object): void };
  certificate.onChange = () => server.setSecureContext(certificate.options);
  app.addHook('onClose', async () => certificate.close());
}
