/**
 * Prepares a call from a browser: the call's id, and the one-use token with which its stream is admitted at
 * `/twilio/media`.
 */
import { randomUUID } from 'node:crypto';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallParties } from '../../calls/admission/tokens.ts';
import type { Feed } from '../../calls/feed/feed.ts';
import type { CallRegistry } from '../../calls/registry.ts';
import type { Access } from '../access/access.ts';
import { errorResponses } from '../server/errors.ts';

/** Calls that were prepared and have not ended. Those of before are not watched any more. */
const WATCHED_MAX = 1000;

/** How a call from the page appears in the list. */
const PARTIES: CallParties = { from: 'browser', to: 'trunkline' };

const DESCRIPTION = `A page of this server then opens a WebSocket to \`/twilio/media\` and speaks Twilio's messages: \`connected\`, \`start\` with \`callId\` as its
\`callSid\` and the token as the custom parameter \`token\`, \`media\`, \`dtmf\`, \`mark\`, \`stop\`. The token is valid for one start within ten minutes. The call
ends when whoever asked for it signs out.`;

interface PhoneOptions {
  readonly registry: Pick<CallRegistry, 'admit' | 'tokens' | 'hangup'>;
  readonly access: Pick<Access, 'endLater'>;
  readonly feed: Pick<Feed, 'subscribeOwn'>;
}

/** `POST /v1/phone`. The call ends when whoever asked for it has signed out, or may not come in any more. */
export const phoneRoutes: FastifyPluginCallbackZod<PhoneOptions> = (app, { registry, access, feed }, done) => {
  /** What forgets a call, by its id, the oldest first. */
  const watched = new Map<string, () => void>();
  const forget = (callId: string): void => {
    watched.get(callId)?.();
    watched.delete(callId);
  };
  const unsubscribe = feed.subscribeOwn({}, ({ event }) => {
    if (event.type === 'call.ended') forget(event.callId);
  });
  app.addHook('onClose', async () => unsubscribe());
  app.post(
    '/v1/phone',
    {
      config: { permission: 'calls.make' },
      schema: {
        operationId: 'startPhoneCall',
        summary: 'Begin a call from a browser',
        description: DESCRIPTION,
        tags: ['calls'],
        querystring: z.strictObject({
          flow: z.string().min(1).max(64).optional().describe('The flow that talks to whoever calls'),
        }),
        response: {
          200: z.object({ callId: z.string(), token: z.string() }),
          ...errorResponses(400, 401, 403, 429, 503),
        },
      },
    },
    async (request) => {
      registry.admit();
      const callId = `web-${randomUUID()}`;
      const token = registry.tokens.issue({ callId, ...PARTIES, flow: request.query.flow });
      const end = (): void => {
        watched.delete(callId);
        registry.tokens.revoke(token);
        // The second time it does not wait for what is being said.
        if (registry.hangup(callId)) registry.hangup(callId);
      };
      watched.set(callId, access.endLater(request, end));
      const [oldest] = watched.keys();
      if (watched.size > WATCHED_MAX && oldest !== undefined) forget(oldest);
      await registry.tokens.settled();
      return { callId, token };
    },
  );
  done();
};
