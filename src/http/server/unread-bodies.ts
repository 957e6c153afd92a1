/** The unread rest of request bodies after their answers. */
import type { FastifyInstance } from 'fastify';

/**
 * Reads and drops the rest of a body after its answer. A form with a wrong first field is answered before its file has
 * arrived. Node reads the next request of a connection only after the whole body of the previous one, and by itself it
 * drops only bodies that have no reader yet: the client's next request would wait forever. The request timeout limits
 * this reading.
 */
export function readAwayUnread(app: FastifyInstance): void {
  app.addHook('onResponse', async ({ raw, ws }) => {
    if (ws || raw.complete || raw.destroyed) return;
    raw.unpipe();
    raw.resume();
  });
}
