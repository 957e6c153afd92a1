/** Short sounds are made before they are sent, so that their length is known. */
import type { Sound } from './encoders.ts';

/** The same sound, and how many bytes it has; null = it has not ended yet. */
interface BufferedSound {
  readonly sound: Sound;
  readonly bytes: number | null;
}

/**
 * Reads `sound` until it ends or has more than `maxBytes`; with 0 it reads nothing. Rejects with what the sound fails
 * with by then.
 */
export async function bufferUpTo(maxBytes: number, sound: Sound): Promise<BufferedSound> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  while (maxBytes > 0 && bytes <= maxBytes) {
    const next = await sound.next();
    if (next.done === true) return { sound: replay(chunks, sound), bytes };
    chunks.push(next.value);
    bytes += next.value.length;
  }
  return { sound: replay(chunks, sound), bytes: null };
}

async function* replay(chunks: Uint8Array[], rest: Sound): Sound {
  try {
    for (let next = chunks.shift(); next !== undefined; next = chunks.shift()) yield next;
    yield* rest;
  } finally {
    await rest.return();
  }
}
