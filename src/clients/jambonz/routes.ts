/** jambonz's custom speech vendor: `WS /jambonz/stt`, `POST /jambonz/tts`, `WS /jambonz/tts`. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { MP3_RATES_HZ } from '../../audio/encode.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { errorResponses } from '../../http/server/errors.ts';
import { websocketOnly } from '../../http/server/websocket-only.ts';
import type { SpeechFormat } from '../../http/speech/encoders.ts';
import { bodyMaxBytes } from '../../http/speech/request.ts';
import { AS_AUDIO, sendSpeech } from '../../http/speech/send-speech.ts';
import type { ResolvedVoice, VoiceOptions } from '../../speech/voice-resolver.ts';
import { admitting } from '../shared/admitting.ts';
import type { ListenContext } from '../shared/context.ts';
import { Recognition } from './stt.ts';
import { serveSpeech } from './tts.ts';
import { readSpeechBody } from './wire/messages.ts';

type Plugin = FastifyPluginCallbackZod<{ context: ListenContext }>;

const TELEPHONE_RATE_HZ = 8000;
/** What `Accept` may name before MP3, and what is then sent. */
const ACCEPTED: readonly (readonly [RegExp, SpeechFormat])[] = [
  [/audio\/(?:mpeg|mp3)/i, 'mp3'],
  [/audio\/(?:x-)?wave?/i, 'wav'],
  [/audio\/l16/i, 'pcm'],
];

const recogniserRoute: Plugin = (app, { context }, done) => {
  const { listeners, access } = context;
  app.route({
    method: 'GET',
    url: '/jambonz/stt',
    exposeHeadRoute: false,
    config: { permission: 'transcriptions', socket: true },
    schema: {
      operationId: 'openJambonzListen',
      summary: 'Live audio to text (WebSocket, jambonz)',
      description:
        'The STT of a custom speech vendor: `start`, samples (LINEAR16), `stop`; answers are `transcription`.',
      tags: ['recordings'],
      response: errorResponses(400, 401, 403, 429, 503),
    },
    preHandler: admitting((request) => listeners.admit(access.listenerOf(request))),
    handler: websocketOnly('/jambonz/stt'),
    wsHandler: (socket, request) => {
      const recognition = new Recognition({ socket, request, context });
      listeners.enter('jambonz', { owner: access.listenerOf(request), socket, session: recognition });
    },
  });
  done();
};

const speechRoute: Plugin = (app, { context: { speech } }, done) => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, parsed) => parsed(null, body));
  app.post(
    '/jambonz/tts',
    {
      validatorCompiler: () => () => true,
      bodyLimit: bodyMaxBytes(speech.inputMaxChars),
      config: { permission: 'speech' },
      schema: {
        operationId: 'createJambonzSpeech',
        summary: 'Speak a text (jambonz)',
        description: 'The TTS of a custom speech vendor: MP3, or WAV or L16 at 8 kHz where `Accept` names that alone.',
        tags: ['speech'],
        body: z.object({ text: z.string(), type: z.string(), voice: z.string(), language: z.string() }).partial(),
        response: {
          200: { description: 'Speech', content: { 'audio/mpeg': { schema: z.string() } } },
          ...errorResponses(400, 401, 403, 413, 429, 503),
        },
      },
    },
    async (request, reply) => {
      const body = typeof request.body === 'string' ? request.body : '';
      const { text, voice, language } = readSpeechBody(body, speech.inputMaxChars);
      const format = formatFor(request.headers.accept ?? '');
      await sendSpeech(speech, {
        request,
        reply,
        speechRequest: {
          text,
          voiceOptions: voiceOptionsOf(voice, language),
          format,
          rateHz: format === 'pcm' ? TELEPHONE_RATE_HZ : null,
          wholeMaxBytes: 0,
        },
        responseFormat: {
          ...AS_AUDIO,
          headers: (encoder, found) => ({
            ...AS_AUDIO.headers(encoder, found),
            ...(format === 'pcm' && { 'content-type': `audio/l16;rate=${TELEPHONE_RATE_HZ}` }),
          }),
        },
      });
      return reply;
    },
  );
  done();
};

function formatFor(accept: string): SpeechFormat {
  return ACCEPTED.find(([type]) => type.test(accept))?.[1] ?? 'mp3';
}

/** A voice that there is not is spoken by the default voice, or by one of the language. */
function voiceOptionsOf(voice: string | null, language: string | null): VoiceOptions {
  return {
    ...(voice !== null && { voice, voiceIsWish: true }),
    ...(language !== null && { lang: language }),
  };
}

const speechQuery = z.object({
  voice: z.string().max(64).optional(),
  language: z.string().max(40).optional(),
  sampleRate: z.string().optional().describe('Hz; 8000 unless given'),
});

const speechSocketRoute: Plugin = (app, { context: { speech, listeners, access } }, done) => {
  const admitted = new WeakMap<FastifyRequest, { readonly voice: ResolvedVoice; readonly rateHz: number }>();
  app.route({
    method: 'GET',
    url: '/jambonz/tts',
    exposeHeadRoute: false,
    config: { permission: 'speech', socket: true },
    schema: {
      operationId: 'openJambonzSpeak',
      summary: 'Speak a text while it is written (WebSocket, jambonz)',
      description:
        'The streaming TTS of a custom speech vendor: `connect` comes first, then `stream`, `flush`, `clear` and ' +
        '`stop` are answered with bare samples.',
      tags: ['speech'],
      querystring: speechQuery,
      response: errorResponses(400, 401, 403, 429, 503),
    },
    preHandler: [
      async (request) => {
        if (!request.ws) return;
        const { voice = '', language = '', sampleRate } = request.query as z.infer<typeof speechQuery>;
        const rateHz = readRate(sampleRate);
        const found = await speech.service.voiceFor(voiceOptionsOf(voice || null, language || null));
        admitted.set(request, { voice: found, rateHz });
      },
      admitting((request) => request.ws && listeners.admit(access.listenerOf(request))),
    ],
    handler: websocketOnly('/jambonz/tts'),
    wsHandler: (socket, request) => {
      const found = admitted.get(request);
      if (found === undefined) throw new Error('the handshake was not looked at');
      const session = serveSpeech({ socket, request, context: speech, ...found });
      listeners.enter('speak', { owner: access.listenerOf(request), socket, session });
    },
  });
  done();
};

/** @throws TrunklineError `invalid_request` */
function readRate(asked: string | undefined): number {
  if (asked === undefined || asked === '') return TELEPHONE_RATE_HZ;
  const rateHz = MP3_RATES_HZ.find((each) => String(each) === asked);
  if (rateHz !== undefined) return rateHz;
  throw new TrunklineError('invalid_request', `sampleRate: expected one of ${MP3_RATES_HZ.join(', ')}`, 'sampleRate');
}

/** All of it, to be registered where a key is asked for. */
export const jambonzRoutes: Plugin = (app, { context }, done) => {
  void app.register(recogniserRoute, { context });
  void app.register(speechRoute, { context });
  void app.register(speechSocketRoute, { context });
  done();
};
