/** The WebSocket that Genesys Cloud's AudioHook opens for a conversation. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import type { UsedKeys } from '../../calls/admission/shared-one-use.ts';
import type { CallRegistry } from '../../calls/registry.ts';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Access } from '../../http/access/access.ts';
import { errorResponses } from '../../http/server/errors.ts';
import { websocketOnly } from '../../http/server/websocket-only.ts';
import { SignatureNonces } from './signature-nonces.ts';
import type { AudioHookTrunk } from './trunk.ts';
import { checkAudioHookSignature } from './wire/signature.ts';

const MEDIA_PATH = '/genesys/media';

interface GenesysOptions {
  readonly settings: Pick<Settings, 'GENESYS_API_KEY' | 'GENESYS_CLIENT_SECRET'>;
  readonly registry: Pick<CallRegistry, 'admit'>;
  readonly audioHook: Pick<AudioHookTrunk, 'accept'>;
  readonly access: Access;
  readonly clock: Clock;
  /** Shared with other gateways; null = there are none. */
  readonly oneUse: UsedKeys | null;
}

/** `WS /genesys/media`. */
export const genesysRoutes: FastifyPluginCallbackZod<GenesysOptions> = (
  app,
  { settings, registry, audioHook, access, clock, oneUse },
  done,
) => {
  const { GENESYS_API_KEY: apiKey, GENESYS_CLIENT_SECRET: clientSecret } = settings;
  const nonces = new SignatureNonces({ clock, shared: oneUse });
  app.route({
    method: 'GET',
    url: MEDIA_PATH,
    exposeHeadRoute: false,
    config: { socket: true },
    schema: {
      operationId: 'openGenesysMedia',
      summary: "Genesys Cloud's AudioHook (WebSocket): both sides of a conversation",
      description:
        'With X-API-KEY where GENESYS_API_KEY is set, and with the signature of the handshake (RFC 9421) where ' +
        'GENESYS_CLIENT_SECRET is set. Captions go back as transcripts. Tried with the sample client of Genesys, ' +
        'not with Genesys Cloud.',
      tags: ['genesys'],
      security: [],
      response: errorResponses(400, 401, 403, 429, 503),
    },
    preValidation: async (request) => {
      access.admitToken(request, apiKey, 'x-api-key', 'GENESYS_API_KEY');
      if (clientSecret !== '')
        await checkSignature(request, { apiKey, clientSecret, nowS: clock.wall().getTime() / 1000 }, nonces);
      registry.admit();
    },
    handler: websocketOnly(MEDIA_PATH),
    wsHandler: (socket, request) =>
      audioHook.accept(socket, { organizationId: organizationOf(request), trusted: apiKey !== '' }),
  });
  done();
};

function organizationOf({ headers }: FastifyRequest): string | null {
  return [headers['audiohook-organization-id'] ?? []].flat()[0] ?? null;
}

interface Expected {
  readonly apiKey: string;
  readonly clientSecret: string;
  readonly nowS: number;
}

/** @throws TrunklineError `credentials_invalid` */
async function checkSignature(request: FastifyRequest, expected: Expected, nonces: SignatureNonces): Promise<void> {
  const check = checkAudioHookSignature({ target: request.raw.url ?? '', headers: request.headers, ...expected });
  if ('nonce' in check && (await nonces.isFirst(check.nonce))) return;
  const why = 'refused' in check ? check.refused : 'the signature was used before';
  throw new TrunklineError(
    'credentials_invalid',
    `${why}; expected one with GENESYS_CLIENT_SECRET, over the Host and the path that Genesys was given`,
  );
}
