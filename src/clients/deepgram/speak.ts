/** Deepgram's text to speech: `/v1/speak` (Aura) and `/v2/speak` (Flux), each as POST and as WebSocket. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { errorResponses } from '../../http/server/errors.ts';
import { websocketOnly } from '../../http/server/websocket-only.ts';
import { bodyMaxBytes } from '../../http/speech/request.ts';
import { AS_AUDIO, type ResponseFormat, sendSpeech } from '../../http/speech/send-speech.ts';
import type { ResolvedVoice } from '../../speech/voice-resolver.ts';
import { admitting } from '../shared/admitting.ts';
import type { ListenContext } from '../shared/context.ts';
import { PassedOver } from '../shared/passed-over.ts';
import { SequencedSpeech, type SpeakDialect } from './speak-dialect.ts';
import { countedAs, modelOf, rawEncoder, voiceOptionsOf } from './speak-format.ts';
import { SpeakSocket } from './speak-socket.ts';
import { SpeechTurns } from './speak-turns.ts';
import { readSpeakBody } from './wire/speak-messages.ts';
import { readSpeakQuery, type SpeakQuery } from './wire/speak-query.ts';

/** A path of speech, and what its WebSocket answers. */
interface SpeakVersion {
  readonly path: '/v1/speak' | '/v2/speak';
  readonly speechOperation: string;
  readonly socketOperation: string;
  readonly title: string;
  readonly messages: string;
  newDialect(): SpeakDialect;
}

/** `/v1/speak`: flushes are numbered. */
export const SPEAK_V1: SpeakVersion = {
  path: '/v1/speak',
  speechOperation: 'createDeepgramSpeech',
  socketOperation: 'openDeepgramSpeak',
  title: 'Deepgram',
  messages:
    'Messages are `{"type":"Speak","text"}`, `Flush`, `Clear` and `Close`. Sound comes as binary messages in ' +
    '`encoding` (linear16, mulaw or alaw) at `sample_rate`; each Flush is answered with one `Flushed` behind ' +
    'its sound, in order, and a Clear with `Cleared`, which also stands for the flushes that it dropped.',
  newDialect: () => new SequencedSpeech(),
};

/** `/v2/speak`: text up to a flush is a turn. */
export const SPEAK_V2: SpeakVersion = {
  path: '/v2/speak',
  speechOperation: 'createDeepgramFluxSpeech',
  socketOperation: 'openDeepgramFluxSpeak',
  title: 'Deepgram Flux',
  messages:
    'Messages are `{"type":"Speak","text"}`, `Flush` and `Close`. The first answer is `Connected`. Text up to a ' +
    'Flush is a turn: `SpeechStarted` with its `speech_id`, its sound as binary messages in `encoding` (linear16, ' +
    'mulaw or alaw) at `sample_rate`, `SpeechMetadata` with its length and characters, and `Flushed`. Close is ' +
    'answered, behind the rest of the sound, with `SessionMetadata`.',
  newDialect: () => new SpeechTurns(),
};

interface SpeakOptions {
  readonly context: ListenContext;
  readonly version: SpeakVersion;
}

/** The handler reads the body, whatever its content type says. */
const speakBodies = { 'application/json': z.object({ text: z.string() }), 'text/plain': z.string() };

const speech = {
  description: 'Speech, as it is made',
  content: { 'audio/mpeg': { schema: z.string().describe('Other encodings have content types of their own') } },
};

/** `POST /v1/speak` or `POST /v2/speak`. */
export const speakRoute: FastifyPluginCallbackZod<SpeakOptions> = (
  app,
  { context: { speech: context, log }, version },
  done,
) => {
  const passedOver = new PassedOver({ log, endpoint: version.path });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, parsed) => parsed(null, body));
  app.post(
    version.path,
    {
      bodyLimit: bodyMaxBytes(context.inputMaxChars),
      config: { permission: 'speech', deepgram: true, describedBody: speakBodies },
      schema: {
        operationId: version.speechOperation,
        summary: `Speak a text (${version.title})`,
        description:
          "Compatible with Deepgram: `model` may be one of our voices or one of Deepgram's, for which the default " +
          'voice speaks. `mp3` unless `encoding` says otherwise; `linear16`, `mulaw` and `alaw` come as WAV or, with ' +
          '`container=none`, bare; `opus`, `flac` and `aac` need ffmpeg on PATH. Requests wait behind all calls.',
        tags: ['speech'],
        response: { 200: speech, ...errorResponses(400, 401, 403, 413, 429, 503) },
      },
    },
    async (request, reply) => {
      const query = readSpeakQuery(request.query as Record<string, unknown>, 'file');
      passedOver.note(query.passedOver);
      const body = typeof request.body === 'string' ? request.body : '';
      const text = readSpeakBody(body, request.headers['content-type'], context.inputMaxChars);
      await sendSpeech(context, {
        request,
        reply,
        speechRequest: speechRequestOf(query, text),
        responseFormat: asDeepgram(request, text),
      });
      return reply;
    },
  );
  done();
};

function speechRequestOf(query: SpeakQuery, text: string) {
  const { format } = query;
  const encoder = rawEncoder(format);
  return {
    text,
    voiceOptions: voiceOptionsOf(query),
    format: countedAs(format),
    rateHz: format.rateHz,
    wholeMaxBytes: 0,
    ...(encoder !== undefined && { encoder }),
  };
}

/** The headers of Deepgram's answers: its Python SDKs read the count as a number and fail without it. */
function asDeepgram({ id }: FastifyRequest, text: string): ResponseFormat {
  return {
    ...AS_AUDIO,
    headers: ({ contentType }, voice) => {
      const { name, uuid } = modelOf(voice);
      return {
        'content-type': contentType,
        'cache-control': 'no-store, no-transform',
        'dg-request-id': id,
        'dg-model-name': name,
        'dg-model-uuid': uuid,
        'dg-char-count': String(text.length),
      };
    },
  };
}

/** What the handshake found out. */
interface Admitted {
  readonly query: SpeakQuery;
  readonly voice: ResolvedVoice;
}

/** `WS /v1/speak` or `WS /v2/speak`. */
export const speakSocketRoute: FastifyPluginCallbackZod<SpeakOptions> = (
  app,
  { context: { speech: context, listeners, access, log }, version },
  done,
) => {
  const passedOver = new PassedOver({ log, endpoint: version.path });
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  app.route({
    method: 'GET',
    url: version.path,
    exposeHeadRoute: false,
    config: { permission: 'speech', socket: true, fromAnySite: true, keyInUrl: true, deepgram: true },
    schema: {
      operationId: version.socketOperation,
      summary: `Speak a text while it is written (WebSocket, ${version.title})`,
      description: version.messages,
      tags: ['speech'],
      response: errorResponses(400, 401, 403, 429, 503),
    },
    preHandler: [
      async (request) => {
        if (!request.ws) return;
        const query = readSpeakQuery(request.query as Record<string, unknown>, 'socket');
        const voice = await context.service.voiceFor(voiceOptionsOf(query));
        passedOver.note(query.passedOver);
        admitted.set(request, { query, voice });
      },
      admitting((request) => request.ws && listeners.admit(access.listenerOf(request))),
    ],
    handler: websocketOnly(version.path),
    wsHandler: (socket, request) => {
      const found = admitted.get(request);
      if (found === undefined) throw new Error('the handshake was not looked at');
      const speaker = new SpeakSocket({ socket, request, context, ...found, dialect: version.newDialect() });
      listeners.enter('speak', { owner: access.listenerOf(request), socket, session: speaker });
      speaker.open();
    },
  });
  done();
};
