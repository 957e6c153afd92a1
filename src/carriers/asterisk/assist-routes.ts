/** The endpoint that starts captions of both directions of a running Asterisk call, for an assistant of its agent. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TrunklineError } from '../../foundation/errors.ts';
import { errorResponses } from '../../http/server/errors.ts';

/** Listens to channels of Asterisk. */
export interface Assistant {
  /** Resolves with the call's id when audio of both directions arrives. */
  assist(channel: string, parameters: Readonly<Record<string, string>>): Promise<{ callId: string }>;
}

const name = z.string().min(1).max(128);

interface AssistOptions {
  /** Null = ARI_URL is empty. */
  readonly assistant: Assistant | null;
  /** Answers with what another gateway says; false = none can, or there is none. Left out = there is none. */
  readonly fromOthers?: ((request: FastifyRequest, reply: FastifyReply) => Promise<boolean>) | undefined;
}

/** `POST /v1/asterisk/assist`. */
export const assistRoutes: FastifyPluginCallbackZod<AssistOptions> = (app, { assistant, fromOthers }, done) => {
  app.post(
    '/v1/asterisk/assist',
    {
      config: { permission: 'calls.make', ownedBy: 'ari' },
      schema: {
        operationId: 'assistAsteriskCall',
        summary: 'Caption a running call of Asterisk',
        description:
          'Captions both directions of a channel of the Asterisk at ARI_URL until it is hung up, as the ' +
          'tracks `inbound` (audio from that channel) and `outbound` (audio to it) of one call. People on the ' +
          'call do not notice. POST /v1/calls/{id}/hangup ends the captions but not the call in Asterisk. Tried ' +
          'against Asterisk 22.10.1.',
        tags: ['asterisk'],
        querystring: z.strictObject({}),
        body: z.strictObject({
          channel: z.string().min(1).max(256).describe('Its unique id, or its name: PJSIP/alice-00000001'),
          names: z
            .strictObject({ inbound: name.optional(), outbound: name.optional() })
            .optional()
            .describe('Who speaks on each track; otherwise as Asterisk names the caller and the connected line'),
          agent: name.optional().describe('Whose call it is, as the parameter `agent`'),
          queue: name.optional(),
        }),
        response: {
          201: z.object({ callId: z.string() }),
          ...errorResponses(400, 401, 403, 404, 413, 429, 501, 502, 503),
        },
      },
    },
    async (request, reply) => {
      if (assistant === null)
        throw new TrunklineError('not_implemented', 'no Asterisk server is configured: set ARI_URL');
      const { channel, names = {}, agent, queue } = request.body;
      const given = { callerName: names.inbound, agentName: names.outbound, agent, queue };
      const parameters = Object.entries(given).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
      const assisted = await assistant.assist(channel, Object.fromEntries(parameters)).catch(async (error: unknown) => {
        // The application of ARI_APP is another gateway's, which has to listen then.
        const mayBeElsewhere = error instanceof TrunklineError && error.code === 'asterisk_unavailable';
        if (mayBeElsewhere && (await fromOthers?.(request, reply))) return null;
        throw error;
      });
      return assisted === null ? reply : reply.code(201).send({ callId: assisted.callId });
    },
  );
  done();
};
