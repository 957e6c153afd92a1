/** Twilio's doors: the webhook that says where a call's media goes, and the WebSocket it goes to. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallRegistry } from '../calls/registry.ts';
import { isTwilioHandshake, isTwilioWebhook } from '../carriers/twilio-signature.ts';
import { connectStreamTwiml, listenAndDialTwiml } from '../carriers/twiml.ts';
import { TrunklineError } from '../errors.ts';
import type { Settings } from '../settings.ts';
import type { Access } from './access.ts';
import { errorResponses } from './errors.ts';
import { Origins } from './origin.ts';

const MEDIA_PATH = '/twilio/media';
const FORM = 'application/x-www-form-urlencoded';

/** The fields we use of https://www.twilio.com/docs/voice/twiml#request-parameters; callers may be `client:…` or `anonymous`. */
const voiceFields = z.object({
  CallSid: z.string().regex(/^[\w-]{1,64}$/, 'expected a call identifier such as CA and 32 hexadecimal digits'),
  From: z.string().max(256).optional(),
  To: z.string().max(256).optional(),
});

/** A request without a body is one without fields. */
const voiceForm = z
  .string()
  .nullable()
  .transform((text): z.input<typeof voiceFields> => ({ CallSid: '', ...Object.fromEntries(new URLSearchParams(text ?? '')) }))
  .pipe(voiceFields);

/** ITU-T E.164. In a query `+` means a space, and hardly anybody writes `%2B`. */
const phoneNumber = z
  .string()
  .transform((text) => text.replace(/^ /, '+'))
  .refine((text) => /^\+[1-9]\d{6,14}$/.test(text), 'expected a phone number in E.164 form such as +14155550100');

const appUrl = z.string().refine((text) => URL.canParse(text) && /^wss?:$/.test(new URL(text).protocol), 'expected a ws or wss URL');

const voiceSchema = {
  summary: "Twilio's voice webhook: connects the call to Trunkline",
  description:
    'Answers with TwiML that streams the call to /twilio/media, with a one-use call token. With `?listen=<number>` the call is forwarded to that number and both sides are captioned; with `?app=<url>` that app talks to the caller. Signed by Twilio (X-Twilio-Signature) where TWILIO_AUTH_TOKEN is set.',
  tags: ['twilio'],
  security: [],
  consumes: [FORM],
  querystring: z.object({
    listen: phoneNumber.optional().describe('Forward the call to this number (E.164) and listen'),
    app: appUrl.optional().describe("The app that talks to the caller (ws or wss URL) in place of APP_URL's"),
  }),
  body: voiceForm,
  response: {
    200: { description: 'TwiML', content: { 'text/xml': { schema: z.string() } } },
    ...errorResponses(400, 403, 413, 503),
  },
};

interface TwilioOptions {
  readonly settings: Settings;
  readonly registry: Pick<CallRegistry, 'admit' | 'acceptTwilio' | 'tokens'>;
  readonly access: Access;
}

/** `POST /twilio/voice` and `WS /twilio/media`. */
export const twilioRoutes: FastifyPluginCallbackZod<TwilioOptions> = (app, { settings, registry, access }, done) => {
  const origins = new Origins(settings);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(FORM, { parseAs: 'string' }, (_request, body, parsed) => parsed(null, body));

  app.post(
    '/twilio/voice',
    {
      schema: voiceSchema,
      preValidation: async (request) => checkWebhook(request, { settings, origins, access }),
    },
    (request, reply) => {
      registry.admit();
      const { CallSid: callId, From: from = null, To: to = null } = request.body;
      const url = `${origins.publicOrigin(request).replace(/^http/, 'ws')}${MEDIA_PATH}`;
      const { listen, app } = request.query;
      const token = registry.tokens.issue({ callId, from, to });
      const target = { url, parameters: { token, ...(app === undefined ? {} : { app }) } };
      const twiml = listen === undefined ? connectStreamTwiml(target) : listenAndDialTwiml(target, listen);
      reply.type('text/xml; charset=utf-8').send(twiml);
    },
  );

  app.route({
    method: 'GET',
    url: MEDIA_PATH,
    exposeHeadRoute: false,
    config: { socket: true },
    schema: {
      summary: "Twilio Media Streams (WebSocket): a call's audio",
      description:
        "Signed by Twilio (X-Twilio-Signature) where TWILIO_AUTH_TOKEN is set; the stream then has to bring the token of /twilio/voice. A page of this server shows what /v1 asks for and brings the token of /v1/phone. Made from Twilio's documents and not yet tried against the real thing.",
      tags: ['twilio'],
      security: [],
      response: errorResponses(400, 401, 403, 429, 503),
    },
    preValidation: async (request) => {
      checkHandshake(request, { settings, origins, access });
      registry.admit();
    },
    handler: () => {
      throw new TrunklineError('invalid_request', `${MEDIA_PATH} is for WebSockets, expected an upgrade`);
    },
    wsHandler: (socket, request) => registry.acceptTwilio(socket, admissionOf(request, settings)),
  });
  done();
};

function admissionOf(request: FastifyRequest, settings: Settings): { carrier: string; tokenRequired: boolean } {
  if (isFromPage(request)) return { carrier: 'browser', tokenRequired: true };
  return { carrier: 'twilio', tokenRequired: isTokenRequired(settings) };
}

/** A token shows that Twilio's signed webhook asked for the stream: without signatures it would show nothing. */
function isTokenRequired(settings: Settings): boolean {
  return settings.TWILIO_AUTH_TOKEN !== '' && settings.TWILIO_CALL_TOKEN === 'required';
}

/** What requests of Twilio are checked with. */
interface Checks {
  readonly settings: Settings;
  readonly origins: Origins;
  readonly access: Access;
}

function checkWebhook(request: FastifyRequest, { settings, origins, access }: Checks): void {
  const authToken = settings.TWILIO_AUTH_TOKEN;
  if (authToken === '') {
    access.admitAnonymous(request);
    return;
  }
  const url = origins.publicOrigin(request) + request.raw.url;
  const body = typeof request.body === 'string' ? request.body : '';
  if (!isTwilioWebhook({ authToken, signature: signatureOf(request), url, body })) refuseSignature();
}

/**
 * A browser says which page it acts for (`Origin`), carriers do not; that the page is one of ours has been checked by then. It may open a stream if
 * its user may use `/v1`, and always needs a call token: no signature vouches for what it says the call is.
 */
function isFromPage(request: FastifyRequest): boolean {
  return request.headers.origin !== undefined && signatureOf(request) === undefined;
}

/** Twilio connects by wss alone and signs that, whatever a proxy in between makes of it. */
function checkHandshake(request: FastifyRequest, { settings, origins, access }: Checks): void {
  if (isFromPage(request)) {
    access.admit(request);
    return;
  }
  const authToken = settings.TWILIO_AUTH_TOKEN;
  if (authToken === '') {
    access.admitAnonymous(request);
    return;
  }
  const url = origins.publicOrigin(request).replace(/^https?/, 'wss') + request.raw.url;
  if (!isTwilioHandshake({ authToken, signature: signatureOf(request), url })) refuseSignature();
}

function signatureOf(request: FastifyRequest): string | undefined {
  return [request.headers['x-twilio-signature'] ?? []].flat()[0];
}

function refuseSignature(): never {
  throw new TrunklineError(
    'signature_invalid',
    'X-Twilio-Signature does not fit: check TWILIO_AUTH_TOKEN (the primary auth token) and PUBLIC_URL (the origin that Twilio was given)',
  );
}
