/** Deepgram's recordings to text: `POST /v1/listen`. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TrunklineError } from '../../foundation/errors.ts';
import { errorResponses } from '../../http/server/errors.ts';
import { goneSignal } from '../../http/server/gone-signal.ts';
import { isLanguageGiven, requireLanguage } from '../../http/transcriptions/languages.ts';
import type { Place } from '../../recordings/recordings.ts';
import type { RecordingTask, Segment } from '../../recordings/transcribe.ts';
import type { ListenContext } from '../shared/context.ts';
import { PassedOver } from '../shared/passed-over.ts';
import { receiveFile } from './file-body.ts';
import { FileCallbacks } from './file-callbacks.ts';
import { modelOf } from './live.ts';
import { toDeepgramError } from './wire/errors.ts';
import { type FileWord, fileAnswer } from './wire/file-answer.ts';
import { type FileQuery, readFileQuery } from './wire/file-query.ts';

const PATH = '/v1/listen';

const answer = {
  description: 'The transcript; with `callback` the id of the request alone',
  content: { 'application/json': { schema: z.looseObject({ request_id: z.string().optional() }) } },
};

const fileBodies = {
  'application/json': z.object({ url: z.string().describe('Where the recording is') }),
  'application/octet-stream': z.string().meta({ format: 'binary' }).describe('A recording, of any or no content type'),
};

/** `POST /v1/listen`. */
export const fileRoute: FastifyPluginCallbackZod<{ context: ListenContext }> = (app, { context }, done) => {
  const { clock, log, settings } = context;
  const passedOver = new PassedOver({ log, endpoint: PATH });
  const callbacks = new FileCallbacks({ settings, clock, log });
  app.addHook('onClose', async () => callbacks.close());
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload));
  app.post(
    PATH,
    {
      config: { permission: 'transcriptions', upload: true, deepgram: true, describedBody: fileBodies },
      schema: {
        operationId: 'createDeepgramTranscription',
        summary: 'A recording as text (Deepgram)',
        description:
          'With `multichannel` each channel by itself, with `diarize` the channel as the speaker; `utterances`, ' +
          '`paragraphs`, `detect_language`, `keyterm` and the rest as Deepgram has them. Unknown parameters are ' +
          'passed over. Recordings wait behind all calls.',
        tags: ['recordings'],
        response: { 200: answer, ...errorResponses(400, 401, 403, 413, 429, 503, 507) },
      },
    },
    async (request, reply) => {
      const query = readFileQuery(request.query as Record<string, unknown>);
      passedOver.note(query.passedOver);
      await new FileRequest(context, callbacks, { request, reply, query }).serve();
      return reply;
    },
  );
  done();
};

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly query: FileQuery;
}

/** A recording that has come. */
interface Received {
  readonly sha256: string;
  readonly created: string;
}

/** One request, from its recording to the answer. */
class FileRequest {
  readonly #context: ListenContext;
  readonly #callbacks: FileCallbacks;
  readonly #exchange: Exchange;

  constructor(context: ListenContext, callbacks: FileCallbacks, exchange: Exchange) {
    this.#context = context;
    this.#callbacks = callbacks;
    this.#exchange = exchange;
  }

  /** @throws TrunklineError what is refused before the answer */
  async serve(): Promise<void> {
    const { recordings } = this.#context;
    const { request, reply, query } = this.#exchange;
    const leave = query.callback === null ? () => undefined : this.#callbacks.enter();
    let isLeftBehind = false;
    try {
      const place = await recordings.admit();
      try {
        const received = await this.#receive(place);
        if (query.callback === null) {
          reply.send(await this.#transcribe(place, received, AbortSignal.any([place.signal, goneSignal(reply)])));
          return;
        }
        isLeftBehind = true;
        reply.send({ request_id: request.id });
        void this.#callBack(place, received, query.callback).finally(leave);
      } finally {
        if (!isLeftBehind) await place.release();
      }
    } finally {
      if (!isLeftBehind) leave();
    }
  }

  async #receive(place: Place): Promise<Received> {
    const { recordings, settings, clock } = this.#context;
    const { request, reply, query } = this.#exchange;
    const signal = AbortSignal.any([place.signal, goneSignal(reply)]);
    const { path } = place;
    const target = { path, disk: recordings.disk, settings, clock, signal, samples: query.samples };
    const sha256 = await receiveFile(request, target);
    requireLanguage(query.language ?? '', await recordings.languages(signal));
    return { sha256, created: clock.wall().toISOString() };
  }

  /** Never rejects. What allowed the request allows this: it ends with a key that is taken back. */
  async #callBack(place: Place, received: Received, url: string): Promise<void> {
    const { access, failures } = this.#context;
    const { request } = this.#exchange;
    const stop = new AbortController();
    const refusal = new TrunklineError('invalid_api_key', 'the key that allowed the request holds no longer');
    const forget = access.endLater(request, () => stop.abort(refusal));
    const body = await this.#transcribe(place, received, AbortSignal.any([place.signal, stop.signal]))
      .catch((error: unknown) => toDeepgramError(failures.note(error, request), request.id))
      .finally(forget);
    await place.release().catch(() => undefined);
    await this.#callbacks.deliver(url, request.id, JSON.stringify(body));
  }

  async #transcribe(place: Place, { sha256, created }: Received, signal: AbortSignal): Promise<object> {
    const { recordings, access } = this.#context;
    const { request, query } = this.#exchange;
    const language = query.detectLanguage ? 'auto' : query.language;
    let channels = 1;
    const task: RecordingTask = {
      path: place.path,
      workFolder: place.workFolder,
      channels: query.multichannel || query.diarize ? 'split' : 'mix',
      timed: true,
      isLanguageGiven: isLanguageGiven(language ?? ''),
      ...(language !== null && { language }),
      hotWords: query.hotWords,
      tenant: access.tenantOf(request),
      signal,
      onChannels: (count) => {
        channels = count;
      },
    };
    const { segments, durationMs, spokenLanguage } = await recordings.transcribe(task);
    const model = modelOf(this.#context);
    const facts = { requestId: request.id, model, sha256, created, durationMs, channels, language: spokenLanguage };
    return fileAnswer(wordsOf(segments), facts, query);
  }
}

/** All words in the order of their beginning. The first word of a segment stands apart from the one before. */
function wordsOf(segments: readonly Segment[]): FileWord[] {
  const words = segments.flatMap(({ channel, words: own }) => own.map((word) => ({ ...word, channel })));
  return words.toSorted((a, b) => a.startMs - b.startMs);
}
