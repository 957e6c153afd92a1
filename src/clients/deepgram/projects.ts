/** Deepgram's projects: its command line asks for them before anything else. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { errorResponses } from '../../http/server/errors.ts';

/** There is one, and it is this server. */
const PROJECT = { project_id: 'trunkline', name: 'Trunkline' } as const;

const project = z.object({ project_id: z.string(), name: z.string() });

/** `GET /v1/projects`. */
export const projectsRoute: FastifyPluginCallbackZod = (app, _options, done) => {
  app.get(
    '/v1/projects',
    {
      config: { permission: 'models', deepgram: true },
      schema: {
        operationId: 'listDeepgramProjects',
        summary: 'The one project that there is (Deepgram)',
        description: 'Programs that ask for the projects of their key find one; nothing else is kept by project.',
        tags: ['access'],
        response: { 200: z.object({ projects: z.array(project) }), ...errorResponses(401, 403, 429) },
      },
    },
    () => ({ projects: [PROJECT] }),
  );
  done();
};
