import { randomBytes } from 'node:crypto';
import { readTranscription, transcriptionForm } from '../../protocols/remote/openai-transcription.ts';
import { URGENCY_HEADER } from '../../protocols/remote/trunkline.ts';
import { HttpClient } from './http-client.ts';
import { RemoteError, type RemoteRecogniser, type RemoteRequest, type RemoteText } from './remote-recogniser.ts';

/** Longer answers are none: a final has a few hundred bytes. */
const ANSWER_MAX_BYTES = 65_536;
/** Requests at the same time: these servers put what waits into one run of the model. */
const IN_FLIGHT_MAX = 32;
/** whisper.cpp's server reads one after the other. */
const INFERENCE_IN_FLIGHT_MAX = 1;

const ENDPOINT = /\/(?:audio\/transcriptions|inference)$/;

/** A server with OpenAI's transcriptions, or whisper.cpp's where the path ends with `/inference`. */
export class OpenaiRecogniser implements RemoteRecogniser {
  readonly inFlightMax: number;
  readonly #client: HttpClient;
  readonly #endpoint: URL;
  readonly #model: string;

  /** @param url the endpoint, or what its path begins with: `…/v1`; `apiKey`, `model`: '' = none */
  constructor(url: URL, { apiKey, model }: { apiKey: string; model: string }) {
    this.#client = new HttpClient(url, apiKey);
    this.#endpoint = endpointOf(url);
    this.#model = model;
    this.inFlightMax = url.pathname.endsWith('/inference') ? INFERENCE_IN_FLIGHT_MAX : IN_FLIGHT_MAX;
  }

  async recognise({ samples, urgency, language, hotWords = [], context, signal }: RemoteRequest): Promise<RemoteText> {
    const prompt = [context, hotWords.join(', ')].filter((part) => part !== undefined && part !== '').join('\n');
    const fields = {
      model: this.#model,
      ...(language !== undefined && { language }),
      ...(prompt !== '' && { prompt }),
    };
    const form = transcriptionForm(samples, fields, randomBytes(16).toString('hex'));
    const sent = { ...form, headers: { [URGENCY_HEADER]: urgency } };
    const { body } = await this.#client.post(this.#endpoint, sent, { signal, answerMaxBytes: ANSWER_MAX_BYTES });
    const text = readTranscription(new TextDecoder().decode(body), samples.length);
    if (text === null) throw new RemoteError('unusable', 'what it answered is no transcription');
    return { text };
  }

  close(): void {
    this.#client.close();
  }
}

function endpointOf(url: URL): URL {
  const endpoint = new URL(url);
  const path = url.pathname.replace(/(?<!\/)\/+$/, '');
  endpoint.pathname = ENDPOINT.test(path) ? path : `${path === '' ? '/v1' : path}/audio/transcriptions`;
  return endpoint;
}
