/**
 * What every peer does in its process: says that it is loaded, then answers one request after the other, JSON line by
 * JSON line. A request is `{"path": raw 16-bit 16 kHz mono samples}`; the answer has the text, the ms and the
 * processor's ms that it took, reading not included.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * Serves until stdin ends.
 * @template Audio
 * @param {(audio: Audio, request: Record<string, number>) => Promise<string | { text: string }>} transcribe what it
 * returns is the answer, but for the times; a text alone is that
 * @param {(samples: Int16Array) => Audio} convert makes of the samples what the peer takes, outside the time that is
 * measured
 */
export async function serve(transcribe, convert = toFloats) {
  answer({ ready: true });
  for await (const line of createInterface({ input: process.stdin })) {
    const { path, ...request } = JSON.parse(line);
    const audio = convert(readSamples(path));
    const cpuBefore = process.cpuUsage();
    const beginMs = performance.now();
    const said = await transcribe(audio, request);
    const ms = performance.now() - beginMs;
    const { user, system } = process.cpuUsage(cpuBefore);
    answer({ ...(typeof said === 'string' ? { text: said } : said), ms, cpuMs: (user + system) / 1000 });
  }
}

function answer(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function readSamples(path) {
  const bytes = readFileSync(path);
  return new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1);
}

function toFloats(samples) {
  return Float32Array.from(samples, (sample) => sample / 32_768);
}
