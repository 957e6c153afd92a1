/**
 * A stretch of speech that another Trunkline found and sends to be read (its ASR_URL is this server): no file, no queue
 * of recordings and no voice detection, for a caller waits for it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENGINE_RATE_HZ } from '../../../engine/contract.ts';
import { readWav } from '../../audio/wav.ts';
import { type Engine, EngineError, type TranscribeRequest } from '../../engine-client/engine.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { STRETCH_URGENCIES, type StretchUrgency, URGENCY_HEADER } from '../../protocols/remote/trunkline.ts';
import { cleanText } from '../../transcription/clean-text.ts';
import { understandSpeech } from '../../transcription/second-look.ts';
import { requireModel } from '../models.ts';
import { describe } from '../server/echo.ts';
import { goneSignal } from '../server/gone-signal.ts';
import { readFileForm } from '../speech/prompt-form.ts';
import { readForm } from './fields.ts';
import { requireLanguage } from './languages.ts';
import { knownOf, type TranscriptionContext } from './serve-upload.ts';

/** One minute; an utterance has at most 30 s. */
const STRETCH_MAX_BYTES = 60 * 2 * ENGINE_RATE_HZ + 4096;
/** Stretches in memory at the same time, and how many of them may be of recordings: calls have the others. */
const STRETCHES_MAX = 64;
const BATCH_STRETCHES_MAX = STRETCHES_MAX / 2;
/** Within how many ms engines are to have begun one: {@link TranscribeRequest.dueInMs}. */
const DUE_MS = { final: 100, eager: 200, batch: 60_000 } as const;

/** What reads stretches. */
export interface StretchContext extends TranscriptionContext {
  readonly engine: Engine;
  readonly settings: TranscriptionContext['settings'] & Pick<Settings, 'CHUNK_MS'>;
  readonly isDraining: () => boolean;
}

/** How urgently `request` is to be read, if it has a stretch of speech; null = it is a recording like others. */
export function stretchUrgency({ headers }: Pick<FastifyRequest, 'headers'>): StretchUrgency | null {
  const value = headers[URGENCY_HEADER];
  return STRETCH_URGENCIES.find((urgency) => urgency === value) ?? null;
}

/** The stretches of one server. */
export class Stretches {
  readonly #context: StretchContext;
  #open = 0;
  #openBatch = 0;

  constructor(context: StretchContext) {
    this.#context = context;
  }

  /**
   * Reads the stretch in `request`, and answers with its text.
   * @throws TrunklineError `draining`, `too_many_requests`, `engine_unavailable`, and what is wrong with the form
   */
  async serve(request: FastifyRequest, reply: FastifyReply, urgency: StretchUrgency): Promise<FastifyReply> {
    if (this.#context.isDraining()) throw new TrunklineError('draining', 'the server is shutting down');
    const isBatch = urgency === 'batch';
    if (this.#open >= STRETCHES_MAX)
      throw new TrunklineError('too_many_requests', `${STRETCHES_MAX} stretches of speech are being read already`);
    if (isBatch && this.#openBatch >= BATCH_STRETCHES_MAX)
      throw new TrunklineError('too_many_requests', `${BATCH_STRETCHES_MAX} stretches of recordings are being read`);
    this.#count(isBatch, 1);
    try {
      const stretch = await this.#receive(request, goneSignal(reply), urgency);
      const body = JSON.stringify({ text: await this.#read(stretch, reply) });
      return await reply.type('application/json; charset=utf-8').send(body);
    } finally {
      this.#count(isBatch, -1);
    }
  }

  #count(isBatch: boolean, by: 1 | -1): void {
    this.#open += by;
    if (isBatch) this.#openBatch += by;
  }

  async #receive(request: FastifyRequest, signal: AbortSignal, urgency: StretchUrgency): Promise<TranscribeRequest> {
    const { recordings, settings, access, families } = this.#context;
    const { bytes, fields } = await readFileForm(request, STRETCH_MAX_BYTES);
    const form = readForm(new Map([...fields].map(([name, value]) => [name, [value]])));
    requireModel('recogniser', form.model, { settings, families });
    requireLanguage(form.language ?? '', await recordings.languages(signal));
    const spoken = recordings.spokenIn(form.language);
    return {
      samples: samplesOf(bytes),
      urgency,
      use: urgency === 'partial' ? 'live' : 'final',
      dueInMs: urgency === 'partial' ? settings.CHUNK_MS : DUE_MS[urgency],
      draft: [],
      ...(spoken !== null && { language: spoken }),
      ...knownOf(form, recordings),
      tenant: access.tenantOf(request),
      signal,
    };
  }

  async #read(stretch: TranscribeRequest, reply: FastifyReply): Promise<string> {
    const { engine } = this.#context;
    try {
      const reading = stretch.urgency === 'partial' ? engine.transcribe(stretch) : understandSpeech(engine, stretch);
      return cleanText((await reading).text);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      stretch.signal?.throwIfAborted();
      // What came too late says nothing of the next one.
      if (error.code === 'stale') reply.header('retry-after', '0');
      throw new TrunklineError('engine_unavailable', `the speech engines did not read it: ${error.code}`);
    }
  }
}

function samplesOf(bytes: Uint8Array): Int16Array {
  const { rateHz, channels } = readWav(bytes);
  const [samples] = channels;
  if (samples !== undefined && channels.length === 1 && rateHz === ENGINE_RATE_HZ) return samples;
  throw new TrunklineError(
    'audio_unreadable',
    `file: got ${channels.length} channels at ${describe(rateHz)} Hz, expected one at ${ENGINE_RATE_HZ} Hz`,
    'file',
  );
}
