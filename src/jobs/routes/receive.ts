/** Reads the request for a batch: a form with many files, or JSON that says where they are. */
import { createHash, type Hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isLanguage } from '../../calls/language/spoken-language.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { isDiskTrouble } from '../../foundation/folders/disk.ts';
import { requireHotWords, splitHotWords } from '../../foundation/hot-words.ts';
import { languageName } from '../../foundation/languages.ts';
import { isAnyLanguage } from '../../foundation/recogniser-languages.ts';
import { IN_PLAIN_WORDS } from '../../foundation/settings/plain-issues.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { withNewNames } from '../../http/server/renamed-fields.ts';
import { fieldText, partsOf } from '../../http/transcriptions/upload.ts';
import { NAME_MAX_CHARS, tooManyFiles } from '../../recordings/inputs.ts';
import type { Draft } from '../batch-index.ts';
import type { BatchRequest } from '../batches.ts';

const URL_MAX_CHARS = 4096;
/** As many hot words as there may be, with commas between them, fit in. */
const FIELD_MAX_BYTES = 32_768;
const KEY_MAX_CHARS = 255;

/** What batches are bounded by. */
export type ReceiveSettings = Pick<
  Settings,
  'BATCH_FILES_MAX' | 'BATCH_MAX_BYTES' | 'UPLOAD_MAX_BYTES' | 'WEBHOOK_SECRET'
>;

const webUrl = z.url({ protocol: /^https?$/ }).max(URL_MAX_CHARS);

const optionFields = {
  channels: z.enum(['mix', 'split']).default('mix').describe('split = one speaker on each side of a stereo recording'),
  language: z
    .string()
    .max(40)
    .refine((language) => isAnyLanguage(language) || isLanguage(language), 'expected a language such as de or German')
    .optional()
    .describe('What is spoken, by code or English name; auto = the recogniser finds out; default: DEFAULT_LANGUAGE'),
  targetLanguage: z
    .string()
    .max(40)
    .default('')
    .describe(
      'Translate into this language, by code or English name (needs LLM_BASE_URL). ' +
        'The old name `target_language` is taken until 1.0',
    ),
  webhookUrl: webUrl.optional().describe('Told when the batch has ended (needs WEBHOOK_SECRET)'),
};

const formFields = z.strictObject({ ...optionFields, hotWords: z.string().optional() });

const jsonBody = z.strictObject({
  ...optionFields,
  hotWords: z
    .union([z.array(z.string()), z.string()])
    .optional()
    .describe('Names and phrases that are likely to be said: a list, or a text with commas between them'),
  inputs: z
    .array(z.union([z.strictObject({ url: webUrl }), z.strictObject({ path: z.string().min(1).max(URL_MAX_CHARS) })]))
    .min(1)
    .describe('Where the recordings are: {"url": …}, or {"path": …} of a file or a folder within BATCH_INPUT_DIR'),
});

/** As the API's description shows it: the recordings as parts of a form, or JSON that says where they are. */
export const batchBodies = {
  'application/json': jsonBody,
  'multipart/form-data': formFields.extend({ file: z.array(z.string().meta({ format: 'binary' })) }),
};

/**
 * What `request` asks for. Uploads are written into the folder of the draft.
 * @throws TrunklineError `invalid_request`, `upload_too_large`, `upload_disk_full`; what a full disk says
 */
export async function receiveBatch(
  request: FastifyRequest,
  draft: Draft,
  settings: ReceiveSettings,
): Promise<BatchRequest> {
  const hash = createHash('sha256');
  const wanted = request.isMultipart()
    ? await readForm(request, draft, settings, hash)
    : readJson(request, settings, hash);
  if (wanted.webhookUrl !== null && settings.WEBHOOK_SECRET === '') {
    throw new TrunklineError(
      'invalid_request',
      'webhookUrl: webhooks need a key to be signed with (WEBHOOK_SECRET)',
      'webhookUrl',
    );
  }
  return { ...wanted, idempotency: idempotencyOf(request, hash) };
}

/** A request without its idempotency key. */
type Unnamed = Omit<BatchRequest, 'idempotency'>;

function readJson(request: FastifyRequest, settings: ReceiveSettings, hash: Hash): Unnamed {
  const { inputs, ...fields } = check(jsonBody, renamed(request.body));
  if (inputs.length > settings.BATCH_FILES_MAX) throw tooManyFiles(settings.BATCH_FILES_MAX);
  const options = optionsOf(fields);
  hash.update(JSON.stringify([options, inputs]));
  const files = inputs.map((input): BatchRequest['files'][number] =>
    'url' in input
      ? { name: nameOf(new URL(input.url).pathname), source: { kind: 'url', location: input.url } }
      : { name: nameOf(input.path), source: { kind: 'path', location: input.path } },
  );
  return { ...options, files };
}

async function readForm(
  request: FastifyRequest,
  draft: Draft,
  settings: ReceiveSettings,
  hash: Hash,
): Promise<Unnamed> {
  const fields: Record<string, string> = {};
  const files: BatchRequest['files'][number][] = [];
  const budget = { leftBytes: settings.BATCH_MAX_BYTES };
  const limits = {
    files: settings.BATCH_FILES_MAX,
    fields: 10,
    fieldSize: FIELD_MAX_BYTES,
    fileSize: settings.UPLOAD_MAX_BYTES,
  };
  try {
    for await (const part of partsOf(request, { ...limits, parts: limits.files + limits.fields })) {
      if (part.type === 'field') {
        fields[part.fieldname] = fieldText(part);
        continue;
      }
      await takeFile(part, {
        path: join(draft.folder, String(files.length)),
        disk: draft.disk,
        settings,
        budget,
        hash,
      });
      files.push({ name: nameOf(part.filename), source: { kind: 'upload' } });
    }
  } catch (error) {
    throw explain(error, settings);
  }
  if (files.length === 0)
    throw new TrunklineError('invalid_request', 'got no file, expected recordings as parts named file', 'file');
  const options = optionsOf(check(formFields, renamed(fields)));
  hash.update(JSON.stringify(options));
  return { ...options, files };
}

type Fields = Omit<z.infer<typeof jsonBody>, 'inputs'>;

function optionsOf({ channels, language, hotWords = [], targetLanguage, webhookUrl }: Fields): Omit<Unnamed, 'files'> {
  const words = requireHotWords(typeof hotWords === 'string' ? splitHotWords(hotWords) : hotWords, 'hotWords');
  return {
    channels,
    targetLanguage: languageName(targetLanguage),
    webhookUrl: webhookUrl ?? null,
    // Without them the request is the same as one of a version that did not know them.
    ...(language !== undefined && { language }),
    ...(words.length > 0 && { hotWords: words }),
  };
}

function renamed(fields: unknown): unknown {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return fields;
  return withNewNames(fields as Readonly<Record<string, unknown>>, { target_language: 'targetLanguage' });
}

interface Taking {
  readonly path: string;
  readonly disk: Draft['disk'];
  readonly settings: ReceiveSettings;
  readonly budget: { leftBytes: number };
  readonly hash: Hash;
}

async function takeFile(part: MultipartFile, { path, disk, settings, budget, hash }: Taking): Promise<void> {
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      budget.leftBytes -= chunk.length;
      if (budget.leftBytes >= 0) return done(null, chunk);
      done(
        tooLarge(
          `the recordings together have more than ${settings.BATCH_MAX_BYTES} bytes, which is the most ` + 'allowed',
        ),
      );
    },
  });
  await pipeline(part.file, count, disk.meter(path), createWriteStream(path, { flush: true }));
  if (part.file.truncated)
    throw tooLarge(
      `a recording is larger than ${settings.UPLOAD_MAX_BYTES} bytes, which is the most allowed (UPLOAD_MAX_BYTES)`,
    );
  hash.update('\0');
}

function explain(error: unknown, settings: ReceiveSettings): unknown {
  if (error instanceof TrunklineError || isDiskTrouble(error)) return error;
  const { code, message, syscall } = error as NodeJS.ErrnoException;
  if (code === 'FST_FILES_LIMIT' || code === 'FST_PARTS_LIMIT') return tooManyFiles(settings.BATCH_FILES_MAX);
  return syscall === undefined
    ? new TrunklineError('invalid_request', `the upload is broken or ended early: ${message}`, 'file')
    : error;
}

function idempotencyOf(request: FastifyRequest, hash: Hash): BatchRequest['idempotency'] {
  const key = [request.headers['idempotency-key'] ?? ''].flat().at(0) ?? '';
  if (key.length > KEY_MAX_CHARS) {
    throw new TrunklineError(
      'invalid_request',
      `Idempotency-Key: got ${key.length} characters, expected at most ${KEY_MAX_CHARS}`,
    );
  }
  return key === '' ? null : { key, hash: hash.digest('hex') };
}

function check<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value, IN_PLAIN_WORDS);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join('.') || 'body';
  throw new TrunklineError('invalid_request', `${place}: ${issue?.message ?? 'not allowed'}`, place);
}

/** The last part of a path, for people. */
function nameOf(path: string): string {
  return path.split(/[/\\]/).at(-1)?.slice(0, NAME_MAX_CHARS) || 'recording';
}

function tooLarge(message: string): TrunklineError {
  return new TrunklineError('upload_too_large', message, 'file');
}
