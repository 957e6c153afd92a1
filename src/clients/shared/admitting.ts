/** The last look at a handshake, before its socket is open. */
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * A hook that refuses a handshake where `admit` throws. It is to be the last one, and `admit` must not wait: the socket
 * is open when it has returned. Several handshakes that waited for the same thing would all be admitted before the
 * first of them is counted.
 */
export function admitting(
  admit: (request: FastifyRequest) => void,
): (request: FastifyRequest, reply: FastifyReply, next: () => void) => void {
  return (request, _reply, next) => {
    admit(request);
    next();
  };
}
