/** Short sounds are made before they are sent, so that it is known how long they are. */
import type { Sound } from './formats.ts';

/** The same sound, and how many bytes it has; null = it has not ended yet. */
interface Gathered {
  readonly sound: Sound;
  readonly bytes: number | null;
}

/**
 * Takes of `sound` what there is, until it ends or has more than `maxBytes`; with 0 nothing is taken. Fails with what
 * the sound fails with by then.
 */
export async function gather(sound: Sound, maxBytes: number): Promise<Gathered> {
  const taken: Uint8Array[] = [];
  let bytes = 0;
  while (maxBytes > 0 && bytes <= maxBytes) {
    const next = await sound.next();
    if (next.done === true) return { sound: replay(taken, sound), bytes };
    taken.push(next.value);
    bytes += next.value.length;
  }
  return { sound: replay(taken, sound), bytes: null };
}

async function* replay(taken: Uint8Array[], rest: Sound): Sound {
  try {
    for (let next = taken.shift(); next !== undefined; next = taken.shift()) yield next;
    yield* rest;
  } finally {
    await rest.return();
  }
}
