/** What is left of a request's body when its answer is out. */
import type { FastifyInstance } from 'fastify';

/**
 * Reads away what nobody wants any more of the bodies that come to `app`. A form that is wrong in its first field is
 * answered before the file behind it has come. Node takes the next request of a connection only behind the whole body
 * of the one before, and throws away by itself only bodies that nobody began to read: the client's next request would
 * wait for ever. How long the rest may take is the request timeout's matter.
 */
export function readAwayUnread(app: FastifyInstance): void {
  app.addHook('onResponse', async ({ raw, ws }) => {
    if (ws || raw.complete || raw.destroyed) return;
    raw.unpipe();
    raw.resume();
  });
}
