/** `?flow=` of the routes by which calls come in. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

/** The name of a flow of FLOWS_DIR. */
export const flowQuery = z.string().min(1).max(64).optional().describe('The flow that talks to the caller');

/** The flow that a checked request of a WebSocket asks for; undefined = none. */
export function flowIn(request: FastifyRequest): string | undefined {
  const { flow } = request.query as { readonly flow?: string };
  return flow;
}
