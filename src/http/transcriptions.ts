/** Recordings to text over OpenAI's audio API. */
import multipart from '@fastify/multipart';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Recordings } from '../recordings/recordings.ts';
import type { Settings } from '../settings.ts';
import type { Access } from './access.ts';
import { errorResponses } from './errors.ts';
import { readForm, type TranscriptionForm, transcriptionBody } from './transcriptions/fields.ts';
import { type Rendered, render } from './transcriptions/formats.ts';
import { receiveUpload } from './transcriptions/upload.ts';

/** What the routes are made of. */
export interface TranscriptionOptions {
  readonly recordings: Recordings;
  readonly settings: Pick<Settings, 'UPLOAD_MAX_BYTES'>;
  readonly access: Access;
}

const transcript = {
  description: 'The transcript as response_format says; with stream=true, events',
  content: {
    'application/json': { schema: z.unknown() },
    'text/plain': { schema: z.string() },
    'application/x-subrip': { schema: z.string() },
    'text/vtt': { schema: z.string() },
  },
};

/** `POST /v1/audio/transcriptions`. */
export const transcriptionRoutes: FastifyPluginCallbackZod<TranscriptionOptions> = (app, options, done) => {
  void app.register(multipart);
  app.post(
    '/v1/audio/transcriptions',
    {
      config: { upload: true },
      // The body is read and checked by the handler, part by part; its schema is for the description.
      validatorCompiler: () => () => true,
      schema: {
        summary: 'A recording as text (OpenAI)',
        tags: ['recordings'],
        consumes: ['multipart/form-data'],
        body: transcriptionBody,
        response: { 200: transcript, ...errorResponses(400, 401, 403, 413, 429, 503) },
      },
    },
    async (request, reply) => {
      const { contentType, body } = await transcribe(request, reply, options);
      reply.type(contentType);
      return body;
    },
  );
  done();
};

async function transcribe(
  request: FastifyRequest,
  reply: FastifyReply,
  { recordings, settings, access }: TranscriptionOptions,
): Promise<Rendered> {
  const place = await recordings.admit();
  try {
    const form = readForm(await receiveUpload(request, place.path, settings.UPLOAD_MAX_BYTES));
    const signal = AbortSignal.any([place.signal, goneSignal(reply)]);
    const recording = await recordings.transcribe({ path: place.path, channels: form.channels, tenant: access.tenantOf(request), signal });
    return render({ ...recording, task: 'transcribe', language: 'english' }, form satisfies TranscriptionForm);
  } finally {
    await place.release();
  }
}

/** Aborts when the client goes away before it has been answered. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort(new Error('the client has gone away')));
  return gone.signal;
}
