/** Twilio's webhooks, which say where a call's media goes, and the WebSocket it goes to. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { OneUseStore } from '../../calls/admission/shared-one-use.ts';
import { type CallFlows, chooseFlow } from '../../calls/app/call-flows.ts';
import type { AppServices } from '../../calls/app/services.ts';
import type { CallRegistry } from '../../calls/registry.ts';
import type { WebSocketCalls } from '../../calls/socket-admission.ts';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { USER_AGENT } from '../../foundation/guarded-fetch.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Access } from '../../http/access/access.ts';
import { Origins } from '../../http/access/origin.ts';
import { errorResponses } from '../../http/server/errors.ts';
import { websocketOnly } from '../../http/server/websocket-only.ts';
import { isTwilioHandshake, isTwilioWebhook } from '../../protocols/twilio-signature.ts';
import { endTwiml } from '../../protocols/twiml/dial.ts';
import { connectStreamAndAskTwiml, connectStreamTwiml, listenAndDialTwiml } from '../../protocols/twiml/stream.ts';
import { flowQuery } from '../shared/flow-query.ts';
import { TwilioDialect } from '../shared/wire/twilio-media.ts';
import { OwnTwiml, type OwnTwimlSettings, type WebhookCall } from './own-twiml.ts';
import { AFTER_PARAMETER, TwilioTransfers } from './transfers.ts';

const MEDIA_PATH = '/twilio/media';
const AFTER_PATH = '/twilio/after';
/** As feeds of the page end then. */
const SIGNED_OUT = { code: 4001, reason: 'signed_out' } as const;
const FORM = 'application/x-www-form-urlencoded';

/**
 * The fields we use of https://www.twilio.com/docs/voice/twiml#request-parameters; callers may be `client:…` or
 * `anonymous`.
 */
const voiceFields = z.object({
  CallSid: z.string().regex(/^[\w-]{1,64}$/, 'expected a call identifier such as CA and 32 hexadecimal digits'),
  From: z.string().max(256).optional(),
  To: z.string().max(256).optional(),
  AccountSid: z.string().max(256).optional(),
  ParentCallSid: z.string().max(256).optional(),
  CallerName: z.string().max(256).optional(),
  ForwardedFrom: z.string().max(256).optional(),
  Direction: z.string().max(64).optional(),
  /** Of a call that was made with `MachineDetection`. */
  AnsweredBy: z.string().max(64).optional(),
  /** What became of a `<Dial>`. */
  DialCallStatus: z.string().max(64).optional(),
  /** All of them, as they came. */
  all: z.array(z.tuple([z.string(), z.string()])).max(200, 'expected at most 200 fields'),
});

/** The fields as Twilio sends them, many more among them. */
const config = { describedBody: { [FORM]: voiceFields.omit({ all: true }).loose() } };

/** A request without a body has no fields. */
const voiceForm = z
  .string()
  .nullable()
  .transform((text): z.input<typeof voiceFields> => {
    const all = [...new URLSearchParams(text ?? '')];
    return { CallSid: '', ...Object.fromEntries(all), all };
  })
  .pipe(voiceFields);

/** ITU-T E.164. In a query `+` means a space, and hardly anybody writes `%2B`. */
const phoneNumber = z
  .string()
  .transform((text) => text.replace(/^ /, '+'))
  .refine((text) => /^\+[1-9]\d{6,14}$/.test(text), 'expected a phone number in E.164 form such as +14155550100');

const appUrl = z
  .string()
  .refine((text) => URL.canParse(text) && /^wss?:$/.test(new URL(text).protocol), 'expected a ws or wss URL');

const twimlUrl = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'expected an http or https URL');

/** A name that goes into the parameters of the stream. */
const label = z.string().min(1).max(128);

const voiceSchema = {
  operationId: 'answerTwilioCall',
  summary: "Twilio's voice webhook: connects the call to Trunkline",
  description:
    'Answers with TwiML that streams the call to /twilio/media, with a one-use call token. With ' +
    '`?listen=<number>` the call is forwarded to that number and both sides are captioned; with `?flow=<name>` ' +
    'that flow talks to the caller; with `?app=<url>` that app does; with `?twiml=<url>`, or where APP_TWIML_URL ' +
    'is set, the app is asked for TwiML of its own, which is answered with its ConversationRelay made a stream to ' +
    'here. Signed by Twilio (X-Twilio-Signature) where TWILIO_AUTH_TOKEN is set.',
  tags: ['twilio'],
  security: [],
  consumes: [FORM],
  querystring: z.object({
    listen: phoneNumber.optional().describe('Forward the call to this number (E.164) and listen'),
    app: appUrl.optional().describe("The app that talks to the caller (ws or wss URL) in place of APP_URL's"),
    twiml: twimlUrl
      .optional()
      .describe("Where the app's own TwiML is asked for (http or https URL), in place of APP_TWIML_URL"),
    flow: flowQuery,
    callerName: label.optional().describe('Who speaks on the track `inbound`'),
    agentName: label.optional().describe('Who speaks on the track `outbound`: with `listen`, who answers that number'),
    agent: label.optional().describe('Whose call it is'),
    queue: label.optional(),
  }),
  body: voiceForm,
  response: {
    200: { description: 'TwiML', content: { 'text/xml': { schema: z.string() } } },
    ...errorResponses(400, 403, 413, 503),
  },
};

const afterSchema = {
  operationId: 'continueTwilioCall',
  summary: 'What follows in a call of Twilio whose session with an app is over',
  description:
    "Twilio asks here by itself, sent by the TwiML of /twilio/voice: for what the app's `action` answered at " +
    'the end of its session, with `?twiml=` for another document of the app, or with `?flow=over` for the ' +
    '`<Dial>` of a flow that has transferred the call; with `?flow=dialled` it says what became of that, and a call ' +
    'that nobody took comes back to its flow. Signed by Twilio as /twilio/voice is.',
  tags: ['twilio'],
  security: [],
  consumes: [FORM],
  querystring: z.object({
    twiml: twimlUrl.optional().describe("A document of the app's"),
    method: z.enum(['GET', 'POST']).default('POST').describe('How that is asked for'),
    flow: z
      .enum(['over', 'dialled'])
      .optional()
      .describe('A flow has talked to the caller; it may have transferred the call, or has'),
  }),
  body: voiceForm,
  response: voiceSchema.response,
};

const mediaSchema = {
  operationId: 'openTwilioMedia',
  summary: "Twilio Media Streams (WebSocket): a call's audio",
  description:
    'Signed by Twilio (X-Twilio-Signature) where TWILIO_AUTH_TOKEN is set; the stream then has to bring the ' +
    'token of /twilio/voice. A page of this server shows what /v1 asks for and brings the token of /v1/phone. ' +
    "Made from Twilio's documents and not yet tried against the real thing.",
  tags: ['twilio'],
  security: [],
  response: errorResponses(400, 401, 403, 429, 503),
};

type TwilioSettings = OwnTwimlSettings &
  Pick<Settings, 'PUBLIC_URL' | 'TRUSTED_PROXIES' | 'TWILIO_ACCOUNT_SID' | 'TWILIO_CALL_TOKEN'>;

interface TwilioOptions {
  readonly settings: TwilioSettings;
  readonly registry: Pick<CallRegistry, 'admit' | 'tokens'>;
  readonly apps: Pick<AppServices, 'twiml' | 'handovers'>;
  /** Those of FLOWS_DIR; null = there are none. */
  readonly flows: CallFlows | null;
  readonly webSockets: WebSocketCalls;
  readonly access: Access;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  /** Where any gateway finds what follows a stream; null = there is no other. */
  readonly oneUse?: OneUseStore | null;
  /** Where Twilio's REST API is, in place of Twilio's own address. */
  readonly twilioApi?: string;
}

/** `POST /twilio/voice`, `POST /twilio/after` and `WS /twilio/media`. */
export const twilioRoutes: FastifyPluginCallbackZod<TwilioOptions> = (
  app,
  { settings, registry, apps, flows, webSockets, access, clock, log, oneUse = null, twilioApi },
  done,
) => {
  const origins = new Origins(settings);
  const ownTwiml = new OwnTwiml({ settings, registry, apps, log });
  const transfers = new TwilioTransfers({
    settings,
    clock,
    log,
    store: oneUse,
    ...(twilioApi === undefined ? {} : { apiUrl: twilioApi }),
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(FORM, { parseAs: 'string' }, (_request, body, parsed) => parsed(null, body));
  const preValidation = async (request: FastifyRequest): Promise<void> =>
    checkWebhook(request, { settings, origins, access });
  const callOf = (request: FastifyRequest, body: VoiceFields): WebhookCall => {
    const origin = origins.publicOrigin(request);
    return { ...readCall(body), media: origin.replace(/^http/, 'ws') + MEDIA_PATH, after: origin + AFTER_PATH };
  };

  app.post('/twilio/voice', { schema: voiceSchema, config, preValidation }, async (request, reply) => {
    registry.admit();
    refuseOurselves(request);
    const { listen, twiml, ...named } = request.query;
    const call = callOf(request, request.body);
    const isFlow = listen === undefined && hasFlow(flows, request);
    const source = listen === undefined && !isFlow ? ownTwiml.sourceOf({ app: named.app, twiml }) : null;
    reply.type('text/xml; charset=utf-8');
    if (source !== null) return await ownTwiml.begin(call, source);
    const token = registry.tokens.issue(call.known);
    await registry.tokens.settled();
    const after = isFlow ? { [AFTER_PARAMETER.name]: AFTER_PARAMETER.value } : {};
    const target = { url: call.media, parameters: { token, ...after, ...onlyGiven(named) } };
    if (isFlow) return connectStreamAndAskTwiml(target, `${call.after}?flow=over`);
    return listen === undefined ? connectStreamTwiml(target) : listenAndDialTwiml(target, listen);
  });

  app.post(AFTER_PATH, { schema: afterSchema, config, preValidation }, async (request, reply) => {
    refuseOurselves(request);
    const { twiml, method, flow } = request.query;
    const call = callOf(request, request.body);
    reply.type('text/xml; charset=utf-8');
    const { callId } = call.known;
    if (flow === 'over') return await transfers.followUp(callId, `${call.after}?flow=dialled`);
    if (flow === 'dialled') {
      const parameters = await transfers.comeBack(callId, request.body.DialCallStatus ?? '');
      if (parameters === null) return endTwiml();
      registry.admit();
      const target = { url: call.media, parameters: { ...parameters, token: registry.tokens.issue(call.known) } };
      await registry.tokens.settled();
      return connectStreamAndAskTwiml(target, `${call.after}?flow=over`);
    }
    return twiml === undefined ? await ownTwiml.goOn(call) : await ownTwiml.follow(call, { url: twiml, method });
  });

  openMedia(app, { settings, registry, webSockets, access }, { origins, transfers, isShared: oneUse !== null });
  done();
};

interface MediaParts {
  readonly origins: Origins;
  readonly transfers: TwilioTransfers;
  /** Another gateway may have given the token: then nobody else here ends the call of a page whose user signs out. */
  readonly isShared: boolean;
}

/** `WS /twilio/media`. */
function openMedia(
  app: Parameters<typeof twilioRoutes>[0],
  { settings, registry, webSockets, access }: Pick<TwilioOptions, 'settings' | 'registry' | 'webSockets' | 'access'>,
  { origins, transfers, isShared }: MediaParts,
): void {
  app.route({
    method: 'GET',
    url: MEDIA_PATH,
    exposeHeadRoute: false,
    config: { socket: true },
    schema: mediaSchema,
    preValidation: async (request) => {
      checkHandshake(request, { settings, origins, access });
      registry.admit();
    },
    handler: websocketOnly(MEDIA_PATH),
    wsHandler: (socket, request) => {
      const fromPage = isFromPage(request);
      if (fromPage && isShared) {
        const forget = access.endLater(request, () => socket.close(SIGNED_OUT.code, SIGNED_OUT.reason));
        socket.once('close', forget);
      }
      const dialect = new TwilioDialect(fromPage ? 'browser' : 'twilio');
      webSockets.accept(socket, dialect, {
        tokenRequired: fromPage || isTokenRequired(settings),
        ...(fromPage ? {} : { transfer: (start, asked) => transfers.transfer(start, asked) }),
      });
    },
  });
}

/** Whether a flow talks to the caller, before TwiML of the app's own is asked for. */
function hasFlow(flows: CallFlows | null, { query, body }: VoiceRequest): boolean {
  const { flow, app, twiml } = query;
  const outgoing = isOutgoing(body);
  const start = {
    parameters: onlyGiven({ flow, app, twiml }),
    outgoing,
    playback: 'buffered',
    to: body.To ?? null,
  } as const;
  return (chooseFlow(start, flows)?.flow ?? null) !== null;
}

interface VoiceRequest {
  readonly query: Readonly<Partial<Record<'flow' | 'app' | 'twiml', string | undefined>>>;
  readonly body: Pick<VoiceFields, 'To' | 'Direction'>;
}

type VoiceFields = z.infer<typeof voiceFields>;

function readCall({ CallSid: callId, From, To, all, ...rest }: VoiceFields): Pick<WebhookCall, 'known' | 'fields'> {
  const details = {
    ...known('accountSid', rest.AccountSid),
    ...known('parentCallSid', rest.ParentCallSid),
    ...known('callerName', rest.CallerName),
    ...known('forwardedFrom', rest.ForwardedFrom),
  };
  const isTold = Object.keys(details).length > 0;
  const made = { ...(isOutgoing(rest) ? { outgoing: true } : {}), ...known('answeredBy', rest.AnsweredBy) };
  return {
    known: { callId, from: From ?? null, to: To ?? null, ...(isTold ? { details } : {}), ...made },
    fields: all,
  };
}

/** Whether it was made by Twilio's REST API: `outbound-api`. */
function isOutgoing({ Direction = '' }: Pick<VoiceFields, 'Direction'>): boolean {
  return Direction.startsWith('outbound');
}

function onlyGiven(parameters: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(parameters).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

function known<N extends string>(name: N, value: string | undefined): { [K in N]?: string } {
  return (value === undefined || value === '' ? {} : { [name]: value }) as { [K in N]?: string };
}

/** If an app's webhook led back here, we would send requests to ourselves without end. */
function refuseOurselves(request: FastifyRequest): void {
  if (request.headers['user-agent'] !== USER_AGENT) return;
  throw new TrunklineError(
    'invalid_request',
    "a request of Trunkline itself, expected Twilio's: APP_TWIML_URL or ?twiml= leads back here",
  );
}

/** A token proves that Twilio's signed webhook asked for the stream. Without signatures it would prove nothing. */
function isTokenRequired(settings: Pick<Settings, 'TWILIO_AUTH_TOKEN' | 'TWILIO_CALL_TOKEN'>): boolean {
  return settings.TWILIO_AUTH_TOKEN !== '' && settings.TWILIO_CALL_TOKEN === 'required';
}

/** What requests of Twilio are checked with. */
interface Checks {
  readonly settings: Pick<Settings, 'TWILIO_AUTH_TOKEN'>;
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
 * A browser says which page it acts for (`Origin`), carriers do not; that the page is one of ours has been checked by
 * then. It may open a stream if its user may use `/v1`, and always needs a call token, because no signature proves what
 * it says about the call.
 */
function isFromPage(request: FastifyRequest): boolean {
  return request.headers.origin !== undefined && signatureOf(request) === undefined;
}

/** Twilio connects by wss only and signs a wss URL, even where a proxy in between changes the scheme. */
function checkHandshake(request: FastifyRequest, { settings, origins, access }: Checks): void {
  if (isFromPage(request)) {
    access.admit(request);
    access.permit(request, 'calls.make');
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
    'X-Twilio-Signature does not fit: check TWILIO_AUTH_TOKEN (the primary auth token) and PUBLIC_URL (the ' +
      'origin that Twilio was given)',
  );
}
