/** Requests that announce JSON and send none, as many clients do. */
import type { FastifyInstance } from 'fastify';

/** An empty body of type application/json counts as `{}`, on every route of `app`. */
export function takeEmptyBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, parsed) => {
    if (body === '') parsed(null, {});
    else void parse(request, body, parsed);
  });
}
