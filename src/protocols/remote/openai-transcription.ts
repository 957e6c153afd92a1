/**
 * Transcription by requests with OpenAI's API, as vLLM, speaches and Trunkline itself serve it:
 * https://platform.openai.com/docs/api-reference/audio/createTranscription. The `/inference` of whisper.cpp's server
 * takes the same form: https://github.com/ggml-org/whisper.cpp/tree/master/examples/server
 */
import { Buffer } from 'node:buffer';
import { wavHeader } from '../../audio/encode.ts';
import { readRemoteText } from './remote-text.ts';

/** What is asked of the server beside the speech. */
export interface TranscriptionFields {
  /** Empty = the server has only one. */
  readonly model: string;
  /** BCP-47; absent = the server finds out. */
  readonly language?: string;
  /** What comes before, or is likely to be said; absent = nothing. */
  readonly prompt?: string;
}

/** A request's body, and its `content-type`. */
export interface FormBody {
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** It cannot be in a WAV file of samples by chance: 128 bits that nobody outside sees before they are sent. */
const BOUNDARY_PREFIX = 'trunkline-';

const RATE_HZ = 16_000;

/**
 * A multipart form (RFC 7578) with a WAV file of 16 kHz mono `samples`.
 * @param nonce hexadecimal digits, new each time
 */
export function transcriptionForm(samples: Int16Array, fields: TranscriptionFields, nonce: string): FormBody {
  const boundary = `${BOUNDARY_PREFIX}${nonce}`;
  const { model, language, prompt } = fields;
  const texts: readonly (readonly [string, string | undefined])[] = [
    ['model', model === '' ? undefined : model],
    ['language', language?.split('-', 1)[0]?.toLowerCase()],
    ['prompt', prompt],
    ['response_format', 'json'],
    ['temperature', '0'],
  ];
  const head = texts
    .filter((field): field is readonly [string, string] => field[1] !== undefined)
    .map(([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    .join('');
  const file =
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="speech.wav"\r\n` +
    'content-type: audio/wav\r\n\r\n';
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: joinForm(Buffer.from(head + file), samples, Buffer.from(`\r\n--${boundary}--\r\n`)),
  };
}

/** The text of a JSON answer to {@link transcriptionForm}; null = it is none. @param samples how many were sent */
export function readTranscription(answer: string, samples: number): string | null {
  let value: unknown;
  try {
    value = JSON.parse(answer);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || 'error' in value || !('text' in value)) return null;
  return typeof value.text === 'string' ? readRemoteText(value.text, samples) : null;
}

/** In one buffer, for requests of 200 kB come by the hundred each second. Samples are little-endian here and in WAV. */
function joinForm(head: Uint8Array, samples: Int16Array, tail: Uint8Array): Uint8Array {
  const header = wavHeader(RATE_HZ, samples.byteLength);
  const body = Buffer.allocUnsafe(head.length + header.length + samples.byteLength + tail.length);
  let at = 0;
  for (const part of [head, header, new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength), tail]) {
    body.set(part, at);
    at += part.length;
  }
  return body;
}
