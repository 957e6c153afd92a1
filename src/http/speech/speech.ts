/** Text to speech over HTTP, as OpenAI has it. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Clock } from '../../foundation/clock.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { modelRoutes, requireModel } from '../models.ts';
import { errorResponses, type Failures } from '../server/errors.ts';
import { AS_AUDIO, AS_OPENAI_EVENTS, answer, type SpeechServices } from './answer.ts';
import { catalogueRoutes } from './catalogue.ts';
import { SpeechForms } from './formats.ts';
import { promptRoutes } from './prompts.ts';
import { qwenRoutes } from './qwen.ts';
import { bodyMaxBytes, speechBody, toFileRequest } from './request.ts';
import type { SpeechSource } from './source.ts';
import { SpeechService } from './speech-service.ts';

const DESCRIPTION = `OpenAI's door: its official SDKs work against it. The answer begins when the first sentence is spoken and goes on sentence by sentence, no
faster than it is read; requests wait behind all calls. Beyond OpenAI's fields there are \`sample_rate\`, \`language\`, \`text_normalize\` and the formats \`mulaw\`
and \`alaw\` (raw, 8 kHz). \`instructions\` and unknown fields are ignored.

\`mp3\`, \`wav\`, \`pcm\`, \`mulaw\` and \`alaw\` are always there; \`flac\`, \`opus\` and \`aac\` where ffmpeg is on PATH. \`pcm\` is 16-bit little-endian mono, at 24 kHz unless
\`sample_rate\` says otherwise. WAV of a short text is sent whole; of a longer one while it grows, and then its size fields say 0xFFFFFFFF. If speech fails in the
middle, a file breaks off (the connection is reset) and an event stream ends with an \`error\`. Requests of the Qwen3-TTS server's clients (model \`qwen3-tts\`) are
answered as that server does: WAV unless said otherwise, always whole, and errors of its shape.`;

/** The content of a 200 that hands out speech. */
const speechResponse = {
  description: 'Speech, as it is made',
  content: {
    'audio/mpeg': { schema: z.string().describe('The file; other formats have content types of their own') },
    'text/event-stream': {
      schema: z.string().describe('`speech.audio.delta` with pieces in base64, then `speech.audio.done`'),
    },
  },
};

const speechRoute: FastifyPluginCallbackZod<{ doors: SpeechServices; settings: Settings }> = (
  app,
  { doors, settings },
  done,
) => {
  app.post(
    '/v1/audio/speech',
    {
      bodyLimit: bodyMaxBytes(doors.inputMaxChars),
      config: { qwen: 'by-model' },
      schema: {
        summary: 'Speak a text',
        description: DESCRIPTION,
        tags: ['speech'],
        body: speechBody(doors.inputMaxChars),
        response: { 200: speechResponse, ...errorResponses(400, 401, 403, 404, 413, 429, 503) },
      },
    },
    async (request, reply) => {
      const { model, stream_format: as } = request.body;
      requireModel('voice', model, settings);
      await answer(doors, {
        request,
        reply,
        order: toFileRequest(request.body),
        responseFormat: as === 'sse' ? AS_OPENAI_EVENTS : AS_AUDIO,
      });
      return reply;
    },
  );
  done();
};

/** What the doors of speech share, of what the server was given. */
export function speechDoors(options: {
  settings: Settings;
  speech: SpeechSource;
  clock: Clock;
  metrics: Metrics;
  failures: Failures;
}): SpeechServices {
  const { settings, speech, clock, metrics, failures } = options;
  const forms = new SpeechForms({ ffmpeg: speech.ffmpeg });
  const service = new SpeechService({
    speaker: speech.speaker,
    forms,
    ordersMax: settings.SPEECH_REQUESTS_MAX,
    metrics,
  });
  return { service, clock, metrics, failures, inputMaxChars: settings.SPEECH_INPUT_MAX_CHARS };
}

interface SpeechRoutesOptions {
  readonly doors: SpeechServices;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly speech: SpeechSource;
}

/** `POST /v1/audio/speech`, models and voices, what is kept of speech, and the Qwen3-TTS server's paths. */
export const speechRoutes: FastifyPluginCallbackZod<SpeechRoutesOptions> = (
  app,
  { doors, settings, clock, speech },
  done,
) => {
  void app.register(speechRoute, { doors, settings });
  void app.register(modelRoutes, { settings, clock });
  void app.register(catalogueRoutes, { speech, settings });
  void app.register(promptRoutes, speech);
  void app.register(qwenRoutes, { doors, idleMs: settings.MEDIA_TIMEOUT_MS });
  done();
};
