/**
 * The WebSockets of carriers that stream like Twilio. Each carrier has its own dialect. All send the same token, each
 * in its own way.
 */
import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallRegistry } from '../../calls/registry.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Dialect } from '../../protocols/dialect.ts';
import { ExotelDialect } from '../../protocols/media-streams/exotel.ts';
import { PlivoDialect } from '../../protocols/media-streams/plivo.ts';
import { isPlivoHandshake } from '../../protocols/media-streams/plivo-signature.ts';
import { SignalWireDialect } from '../../protocols/media-streams/signalwire.ts';
import { TelnyxDialect } from '../../protocols/media-streams/telnyx.ts';
import { VonageDialect } from '../../protocols/media-streams/vonage.ts';
import type { WebSocketTrunk } from '../../trunks/websocket/trunk.ts';
import type { Access } from '../access/access.ts';
import { Origins } from '../access/origin.ts';
import { errorResponses } from '../server/errors.ts';
import { websocketOnly } from '../server/websocket-only.ts';
import { flowIn, flowQuery } from './flow-query.ts';

interface CarrierEndpoint {
  readonly carrier: string;
  /** What the carrier calls its streams. */
  readonly summary: string;
  /** How it sends CARRIER_TOKEN. */
  readonly token: string;
  /** A header of the carrier's own in which it can send the token. */
  readonly tokenHeader?: string;
  open(options: { readonly bigEndian: boolean }): Dialect;
}

const ENDPOINTS: readonly CarrierEndpoint[] = [
  {
    carrier: 'telnyx',
    summary: 'Telnyx media streaming (WebSocket)',
    token: 'stream_auth_token, or ?token= in the URL',
    tokenHeader: 'x-telnyx-streaming-auth-token',
    open: (options) => new TelnyxDialect(options),
  },
  {
    carrier: 'signalwire',
    summary: "SignalWire's Stream (WebSocket)",
    token: 'the attribute authBearerToken',
    open: (options) => new SignalWireDialect(options),
  },
  {
    carrier: 'plivo',
    summary: "Plivo's audio streaming (WebSocket)",
    token: '?token= in the URL; not asked for where PLIVO_AUTH_TOKEN is set and X-Plivo-Signature-V3 fits it',
    open: (options) => new PlivoDialect(options),
  },
  {
    carrier: 'vonage',
    summary: "Vonage's Voice API WebSocket",
    token: 'authorization of the NCCO endpoint, or ?token= in the URL',
    open: () => new VonageDialect({ streamId: randomUUID() }),
  },
  {
    carrier: 'exotel',
    summary: "Exotel's Voicebot and Stream applets (WebSocket)",
    token: 'the password in wss://user:password@host',
    open: () => new ExotelDialect(),
  },
];

type CarrierSettings = Pick<
  Settings,
  'CARRIER_TOKEN' | 'L16_BYTE_ORDER' | 'PLIVO_AUTH_TOKEN' | 'PUBLIC_URL' | 'TRUSTED_PROXIES'
>;

interface CarrierOptions {
  readonly settings: CarrierSettings;
  readonly registry: Pick<CallRegistry, 'admit'>;
  readonly webSockets: Pick<WebSocketTrunk, 'accept'>;
  readonly access: Access;
}

/** `WS /<carrier>/media` for each of them. */
export const carrierRoutes: FastifyPluginCallbackZod<CarrierOptions> = (
  app,
  { settings, registry, webSockets, access },
  done,
) => {
  const origins = new Origins(settings);
  const bigEndian = settings.L16_BYTE_ORDER === 'big';
  for (const endpoint of ENDPOINTS) {
    const url = `/${endpoint.carrier}/media`;
    app.route({
      method: 'GET',
      url,
      exposeHeadRoute: false,
      config: { socket: true },
      schema: {
        operationId: `open${endpoint.carrier.charAt(0).toUpperCase()}${endpoint.carrier.slice(1)}Media`,
        summary: `${endpoint.summary}: a call's audio`,
        description:
          `With CARRIER_TOKEN where one is set: ${endpoint.token}. Made from the carrier's documents and not ` +
          'yet tried against the real thing.',
        tags: [endpoint.carrier],
        security: [],
        querystring: z.object({
          token: z.string().max(1024).optional().describe('CARRIER_TOKEN'),
          flow: flowQuery,
        }),
        response: errorResponses(400, 401, 403, 429, 503),
      },
      preValidation: async (request) => {
        if (isSigned(endpoint, settings)) checkSignature(request, settings.PLIVO_AUTH_TOKEN, origins);
        else access.admitToken(request, settings.CARRIER_TOKEN, endpoint.tokenHeader);
        registry.admit();
      },
      handler: websocketOnly(url),
      wsHandler: (socket, request) => {
        webSockets.accept(socket, endpoint.open({ bigEndian }), {
          flow: flowIn(request),
          trusted: isSigned(endpoint, settings) || settings.CARRIER_TOKEN !== '',
        });
      },
    });
  }
  done();
};

function isSigned({ carrier }: CarrierEndpoint, settings: Pick<Settings, 'PLIVO_AUTH_TOKEN'>): boolean {
  return carrier === 'plivo' && settings.PLIVO_AUTH_TOKEN !== '';
}

function checkSignature(request: FastifyRequest, authToken: string, origins: Origins): void {
  const { headers } = request;
  // A subaccount's calls are signed with the main account's token under another name.
  const signature = [headers['x-plivo-signature-v3'] ?? [], headers['x-plivo-signature-ma-v3'] ?? []].flat().join(',');
  const nonce = [headers['x-plivo-signature-v3-nonce'] ?? []].flat()[0];
  if (isPlivoHandshake({ authToken, signature, nonce, url: origins.publicOrigin(request) + request.raw.url })) return;
  throw new TrunklineError(
    'signature_invalid',
    'X-Plivo-Signature-V3 does not fit: check PLIVO_AUTH_TOKEN and PUBLIC_URL (the origin that Plivo was given)',
  );
}
