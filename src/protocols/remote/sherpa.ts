/**
 * The WebSocket of sherpa-onnx's offline server, one utterance a message:
 * https://k2-fsa.github.io/sherpa/onnx/websocket/offline-websocket.html
 */
import { Buffer } from 'node:buffer';
import { readRemoteText } from './remote-text.ts';

const RATE_HZ = 16_000;
const HEADER_BYTES = 8;
const BYTES_PER_SAMPLE = 4;

/** What says that no utterance follows. */
export const SHERPA_DONE = 'Done';

/** An utterance of 16 kHz mono `samples`: its rate, how many bytes follow, and floats from -1 to 1. */
export function sherpaUtterance(samples: Int16Array): Uint8Array {
  const message = Buffer.allocUnsafe(HEADER_BYTES + samples.length * BYTES_PER_SAMPLE);
  message.writeInt32LE(RATE_HZ, 0);
  message.writeInt32LE(samples.length * BYTES_PER_SAMPLE, 4);
  const floats = Float32Array.from(samples, (sample) => sample / 32_768);
  message.set(new Uint8Array(floats.buffer), HEADER_BYTES);
  return message;
}

/** The text of the server's answer, JSON or bare as older servers have it; null = it is none. */
export function readSherpaResult(answer: string, samples: number): string | null {
  if (!answer.trimStart().startsWith('{')) return readRemoteText(answer, samples);
  try {
    const result: unknown = JSON.parse(answer);
    if (typeof result !== 'object' || result === null || !('text' in result)) return null;
    return typeof result.text === 'string' ? readRemoteText(result.text, samples) : null;
  } catch {
    return null;
  }
}
