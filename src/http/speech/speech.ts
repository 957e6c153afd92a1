/** The routes of text to speech, compatible with OpenAI's. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Clock } from '../../foundation/clock.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Speech } from '../../speech/speech.ts';
import { WavLeveller } from '../../speech/wav-leveller.ts';
import { modelRoutes, type Recognisers, requireModel } from '../models.ts';
import type { ClientFamilies } from '../server/client-families.ts';
import { errorResponses, type Failures } from '../server/errors.ts';
import { SpeechEncoders } from './encoders.ts';
import { FfmpegEncoder } from './ffmpeg-encoder.ts';
import { promptLibraryRoutes } from './prompt-library.ts';
import { promptRoutes } from './prompt-routes.ts';
import { bodyMaxBytes, speechBody, toFileRequest } from './request.ts';
import { AS_AUDIO, AS_OPENAI_EVENTS, type SpeechContext, sendSpeech } from './send-speech.ts';
import { SpeechService } from './speech-service.ts';
import { voiceListRoute } from './voice-list.ts';
import { voiceRoutes } from './voice-routes.ts';

const DESCRIPTION = `Compatible with OpenAI: its official SDKs work. The response begins when the first sentence is
made and goes on sentence by sentence, no faster than the client reads it; requests wait behind all calls. Beyond
OpenAI's fields there are \`sample_rate\`, \`language\`, \`text_normalize\` and the formats \`mulaw\` and \`alaw\` (raw,
8 kHz). \`instructions\` and unknown fields are ignored.

\`mp3\`, \`wav\`, \`pcm\`, \`mulaw\` and \`alaw\` are always available; \`flac\`, \`opus\` and \`aac\` need ffmpeg on PATH.
\`pcm\` is 16-bit little-endian mono, at 24 kHz unless \`sample_rate\` says otherwise. WAV of a short text is sent whole;
of a longer one while it grows, and then its size fields are 0xFFFFFFFF. If speech fails in the middle, a file breaks
off (the connection is reset) and an event stream ends with an \`error\`. Requests of the Qwen3-TTS server's clients
(model \`qwen3-tts\`) are answered as by that server: WAV unless said otherwise, always whole, and errors of its shape.`;

/** The content of a 200 with speech. */
const speechResponse = {
  description: 'Speech, as it is made',
  content: {
    'audio/mpeg': { schema: z.string().describe('The file; other formats have content types of their own') },
    'text/event-stream': {
      schema: z.string().describe('`speech.audio.delta` with pieces in base64, then `speech.audio.done`'),
    },
  },
};

type SpeechSettings = Pick<
  Settings,
  'ASR_MODEL' | 'ASR_FINAL_MODEL' | 'TTS_MODEL' | 'SPEECH_REQUESTS_MAX' | 'SPEECH_INPUT_MAX_CHARS'
>;

interface SpeechRouteOptions {
  readonly context: SpeechContext;
  readonly settings: SpeechSettings;
}

const speechRoute: FastifyPluginCallbackZod<SpeechRouteOptions> = (app, { context, settings }, done) => {
  app.post(
    '/v1/audio/speech',
    {
      bodyLimit: bodyMaxBytes(context.inputMaxChars),
      config: { permission: 'speech', sharedPath: true },
      schema: {
        operationId: 'createSpeech',
        summary: 'Speak a text',
        description: DESCRIPTION,
        tags: ['speech'],
        body: speechBody(context.inputMaxChars),
        response: { 200: speechResponse, ...errorResponses(400, 401, 403, 404, 413, 429, 503) },
      },
    },
    async (request, reply) => {
      const { model, stream_format: as } = request.body;
      requireModel('voice', model, { settings, families: context.families });
      await sendSpeech(context, {
        request,
        reply,
        speechRequest: toFileRequest(request.body, context.families),
        responseFormat: as === 'sse' ? AS_OPENAI_EVENTS : AS_AUDIO,
      });
      return reply;
    },
  );
  done();
};

interface SpeechContextOptions {
  readonly settings: SpeechSettings;
  readonly speech: Pick<Speech, 'requests'>;
  /** The program that encodes formats other than WAV, MP3 and raw samples; `ffmpeg` on PATH by default. */
  readonly ffmpeg?: string;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly failures: Failures;
  readonly families: ClientFamilies;
}

/** What the speech routes share, for one server. */
export function createSpeechContext(options: SpeechContextOptions): SpeechContext {
  const { settings, speech, ffmpeg = 'ffmpeg', clock, metrics, failures, families } = options;
  const service = new SpeechService({
    synthesizer: speech.requests,
    encoders: new SpeechEncoders({ ffmpeg: new FfmpegEncoder({ command: ffmpeg, clock }) }),
    requestsMax: settings.SPEECH_REQUESTS_MAX,
    metrics,
  });
  return { service, clock, metrics, failures, families, inputMaxChars: settings.SPEECH_INPUT_MAX_CHARS };
}

interface SpeechRoutesOptions extends SpeechRouteOptions {
  readonly recognisers: () => Recognisers;
  readonly clock: Clock;
  readonly speech: Speech;
}

/** `POST /v1/audio/speech`, models and voices, and the cache of spoken sentences. */
export const speechRoutes: FastifyPluginCallbackZod<SpeechRoutesOptions> = (
  app,
  { context, settings, clock, speech, recognisers },
  done,
) => {
  void app.register(speechRoute, { context, settings });
  const models = { settings, families: context.families };
  void app.register(modelRoutes, { ...models, clock, recognisers, speech });
  void app.register(voiceListRoute, { speech });
  void app.register(voiceRoutes, { speech, models });
  void app.register(promptRoutes, { speech });
  void app.register(promptLibraryRoutes, { speech, leveller: new WavLeveller(clock) });
  done();
};
