/**
 * Prepares a call from a browser: the call's id, and the one-use token with which its stream is admitted at
 * `/twilio/media`.
 */
import { randomUUID } from 'node:crypto';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallParties } from '../../calls/admission/tokens.ts';
import type { CallRegistry } from '../../calls/registry.ts';
import { errorResponses } from '../server/errors.ts';

/** How a call from the page appears in the list. */
const PARTIES: CallParties = { from: 'browser', to: 'trunkline' };

const DESCRIPTION = `A page of this server then opens a WebSocket to \`/twilio/media\` and speaks Twilio's messages: \`connected\`, \`start\` with \`callId\` as its
\`callSid\` and the token as the custom parameter \`token\`, \`media\`, \`dtmf\`, \`mark\`, \`stop\`. The token is valid for one start within ten minutes.`;

/** `POST /v1/phone`. */
export const phoneRoutes: FastifyPluginCallbackZod<{ registry: Pick<CallRegistry, 'admit' | 'tokens'> }> = (
  app,
  { registry },
  done,
) => {
  app.post(
    '/v1/phone',
    {
      config: { permission: 'calls.make' },
      schema: {
        summary: 'Begin a call from a browser',
        description: DESCRIPTION,
        tags: ['calls'],
        querystring: z.strictObject({}),
        response: {
          200: z.object({ callId: z.string(), token: z.string() }),
          ...errorResponses(400, 401, 403, 429, 503),
        },
      },
    },
    () => {
      registry.admit();
      const callId = `web-${randomUUID()}`;
      return { callId, token: registry.tokens.issue({ callId, ...PARTIES }) };
    },
  );
  done();
};
