import { Client, type ClientUnaryCall, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import {
  inferRequest,
  KSERVE,
  KserveError,
  type KserveInput,
  type KserveModel,
  kserveText,
  metadataRequest,
  readInferredText,
  readMetadata,
} from '../../protocols/remote/kserve.ts';
import { readRemoteText } from '../../protocols/remote/remote-text.ts';
import { RemoteError, type RemoteRecogniser, type RemoteRequest, type RemoteText } from './remote-recogniser.ts';

const IN_FLIGHT_MAX = 32;
const ANSWER_MAX_BYTES = 262_144;
/** Triton puts only requests of the same length into one run of a model. */
const STEP_SAMPLES = 8000;
const PORT = 8001;
const RECONNECT_MAX_MS = 2000;

/** The tensors of k2-fsa's and TensorRT-LLM's models: https://github.com/k2-fsa/sherpa/tree/master/triton */
const TENSORS = { samples: 'WAV', length: 'WAV_LENS', prefix: 'TEXT_PREFIX', text: 'TRANSCRIPTS' } as const;

/** Why gRPC calls fail, as we tell it. https://grpc.io/docs/guides/status-codes/ */
const BUSY = [status.RESOURCE_EXHAUSTED];
const REFUSED = [
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.PERMISSION_DENIED,
  status.UNAUTHENTICATED,
  status.UNIMPLEMENTED,
];

/** The request that asked is not wanted any more. */
class GivenUp extends Error {}

/** An NVIDIA Triton server. A request that is not wanted any more is cancelled there. */
export class TritonRecogniser implements RemoteRecogniser {
  readonly inFlightMax = IN_FLIGHT_MAX;
  readonly #client: Client;
  readonly #model: string;
  readonly #headers: Metadata;
  readonly #calls = new Set<ClientUnaryCall>();
  #known: Promise<KserveModel> | null = null;

  /** @param url `triton://host:8001/model`; without a path the model is `model`. `apiKey`: '' = none */
  constructor({ hostname, port, pathname }: URL, { apiKey, model }: { apiKey: string; model: string }) {
    this.#model = modelOf(pathname) || model;
    this.#headers = new Metadata();
    if (apiKey !== '') this.#headers.set('authorization', `Bearer ${apiKey}`);
    // Without `dns:` a host called `unix` would be taken for a kind of address.
    this.#client = new Client(`dns:${hostname}:${port === '' ? PORT : port}`, credentials.createInsecure(), {
      // It would ask the environment where to send speech.
      'grpc.enable_http_proxy': 0,
      'grpc.max_receive_message_length': ANSWER_MAX_BYTES,
      'grpc.keepalive_time_ms': 20_000,
      // By default a server that was away for long is not looked for again for two minutes.
      'grpc.max_reconnect_backoff_ms': RECONNECT_MAX_MS,
    });
  }

  async recognise({ samples, language, signal }: RemoteRequest): Promise<RemoteText> {
    const { inputs } = await this.#describe(signal);
    const has = (name: string): boolean => inputs.some((input) => input.name === name);
    const request = inferRequest(this.#model, tensorsOf(samples, language, has), TENSORS.text);
    const answer = await this.#call(KSERVE.infer, request, signal).catch((error: unknown) => {
      // It may have been given another model, which takes something else.
      if (error instanceof RemoteError && error.failure === 'refused') this.#known = null;
      throw error;
    });
    const text = readRemoteText(
      readOrRefuse(() => readInferredText(answer, TENSORS.text)),
      samples.length,
    );
    if (text === null) throw new RemoteError('unusable', 'what it answered is longer than anybody could have said');
    return { text };
  }

  close(): void {
    for (const call of this.#calls) call.cancel();
    this.#client.close();
  }

  async #describe(signal: AbortSignal): Promise<KserveModel> {
    for (;;) {
      try {
        return await this.#describeOnce(signal);
      } catch (error) {
        // Another request may have asked, and have been given up.
        if (signal.aborted || !(error instanceof GivenUp)) throw error;
      }
    }
  }

  /** What the model takes, asked once. */
  #describeOnce(signal: AbortSignal): Promise<KserveModel> {
    this.#known ??= this.#call(KSERVE.metadata, metadataRequest(this.#model), signal)
      .then((answer) => checkModel(readOrRefuse(() => readMetadata(answer))))
      .catch((error: unknown) => {
        this.#known = null;
        throw error;
      });
    return this.#known;
  }

  #call(method: string, message: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const done = (error: ServiceError | null, answer?: Uint8Array): void => {
        signal.removeEventListener('abort', onAbort);
        this.#calls.delete(call);
        if (signal.aborted) reject(new GivenUp('it was not waited for'));
        else if (error !== null) reject(toRemoteError(error));
        else resolve(answer ?? new Uint8Array());
      };
      const call = this.#client.makeUnaryRequest<Uint8Array, Uint8Array>(
        method,
        (bytes) => Buffer.from(bytes),
        (bytes) => bytes,
        message,
        this.#headers,
        done,
      );
      this.#calls.add(call);
      const onAbort = (): void => call.cancel();
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
    });
  }
}

/** The model that a URL's path names, as it stands where it is not well encoded; '' = none. */
function modelOf(pathname: string): string {
  try {
    return decodeURIComponent(pathname.slice(1));
  } catch {
    return pathname.slice(1);
  }
}

/** @throws RemoteError `refused` where the model has other tensors */
function checkModel(model: KserveModel): KserveModel {
  const isSpeech = model.inputs.some(({ name, datatype }) => name === TENSORS.samples && datatype === 'FP32');
  const isText = model.outputs.some(({ name }) => name === TENSORS.text);
  if (isSpeech && isText) return model;
  throw new RemoteError('refused', `its model has no input ${TENSORS.samples} (FP32) or no output ${TENSORS.text}`);
}

function tensorsOf(samples: Int16Array, language: string | undefined, has: (name: string) => boolean): KserveInput[] {
  const length = Math.ceil(samples.length / STEP_SAMPLES) * STEP_SAMPLES;
  const floats = new Float32Array(length);
  for (const [at, sample] of samples.entries()) floats[at] = sample / 32_768;
  const content = new Uint8Array(floats.buffer);
  const tensors: KserveInput[] = [{ name: TENSORS.samples, datatype: 'FP32', shape: [1, length], content }];
  if (has(TENSORS.length)) {
    const lengths = new Uint8Array(new Int32Array([samples.length]).buffer);
    tensors.push({ name: TENSORS.length, datatype: 'INT32', shape: [1, 1], content: lengths });
  }
  if (has(TENSORS.prefix)) {
    const prefix = kserveText(whisperPrefix(language));
    tensors.push({ name: TENSORS.prefix, datatype: 'BYTES', shape: [1, 1], content: prefix });
  }
  return tensors;
}

/** How Whisper's models are told the language; empty = as the server's model is set up. */
function whisperPrefix(language: string | undefined): string {
  const primary = language?.split('-', 1)[0]?.toLowerCase();
  return primary === undefined ? '' : `<|startoftranscript|><|${primary}|><|transcribe|><|notimestamps|>`;
}

function readOrRefuse<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof KserveError) throw new RemoteError('unusable', error.message);
    throw error;
  }
}

function toRemoteError({ code, details }: ServiceError): RemoteError {
  const message = `it answered ${status[code]}`;
  // What our own limit refuses has the code of a busy server.
  if (details.startsWith('Received message larger')) {
    return new RemoteError('unusable', `its answer has more than ${ANSWER_MAX_BYTES} bytes`);
  }
  if (BUSY.includes(code)) return new RemoteError('busy', message);
  return new RemoteError(REFUSED.includes(code) ? 'refused' : 'failed', message);
}
