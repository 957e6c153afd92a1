/**
 * `POST /v1/audio/speech/clone`: no model can clone a voice, but a client first learns what is wrong with its form, in
 * the order of the Qwen3-TTS server.
 */
import multipart from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TrunklineError } from '../../foundation/errors.ts';
import { rememberFields } from '../../http/server/client-families.ts';
import { errorResponses } from '../../http/server/errors.ts';
import {
  brokenForm,
  fieldText,
  noFile,
  partsOf,
  requireForm,
  UPLOAD_LIMITS,
} from '../../http/transcriptions/upload.ts';
import { QWEN_ROUTE } from './route-config.ts';

/** Recordings of a voice are some seconds long. Nothing of them is kept. */
const RECORDING_MAX_BYTES = 26_214_400;

/** The parts of the form that are checked. */
interface CloneForm {
  readonly hasFile: boolean;
  /** Undefined = the form has no such field. */
  readonly input: string | undefined;
}

const form = z.object({
  file: z.string().meta({ format: 'binary' }).describe('A recording of the voice'),
  input: z.string().describe('The text'),
});

/** The route. */
export const cloneRoute: FastifyPluginCallbackZod = (app, _options, done) => {
  void app.register(multipart);
  app.post(
    '/v1/audio/speech/clone',
    {
      config: { ...QWEN_ROUTE, permission: 'speech', upload: true },
      validatorCompiler: () => () => true,
      schema: {
        operationId: 'createClonedSpeech',
        summary: 'Speak a text in the voice of a recording: not possible with the voices there are',
        tags: ['speech'],
        consumes: ['multipart/form-data'],
        body: form,
        response: errorResponses(400, 401, 403, 413, 422, 429, 501),
      },
    },
    async (request) => {
      check(await readForm(request), request);
      throw new TrunklineError(
        'not_implemented',
        'no model that is loaded can clone a voice; POST /v1/audio/speech speaks with the voices there are',
      );
    },
  );
  done();
};

function check({ hasFile, input }: CloneForm, request: FastifyRequest): void {
  if (!hasFile) throw noFile(false);
  if (input !== undefined && input.trim() !== '') return;
  rememberFields(request, { input });
  throw new TrunklineError(
    'invalid_request',
    `input: got ${input === undefined ? 'nothing' : 'an empty text'}, expected the text to be spoken`,
    'input',
  );
}

/** @throws TrunklineError `invalid_request` for a form that is broken, `upload_too_large` */
async function readForm(request: FastifyRequest): Promise<CloneForm> {
  requireForm(request);
  let hasFile = false;
  let input: string | undefined;
  try {
    for await (const part of partsOf(request, { ...UPLOAD_LIMITS, fileSize: RECORDING_MAX_BYTES })) {
      if (part.type === 'field') {
        if (part.fieldname === 'input') input = fieldText(part);
        continue;
      }
      await discard(part.file);
      if (part.file.truncated) throw tooLarge();
      hasFile ||= part.fieldname === 'file';
    }
  } catch (error) {
    throw error instanceof TrunklineError ? error : brokenForm(error);
  }
  return { hasFile, input };
}

async function discard(file: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of file);
}

function tooLarge(): TrunklineError {
  return new TrunklineError(
    'upload_too_large',
    `the recording is larger than ${RECORDING_MAX_BYTES} bytes, which is the most allowed`,
    'file',
  );
}
