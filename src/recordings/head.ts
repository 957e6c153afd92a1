/** Reads the beginning of a file, which identifies its format. */
import { open } from 'node:fs/promises';
import { DETECT_BYTES } from '../audio/detect.ts';

/** The first DETECT_BYTES of the file at `path`, or the whole file if it has fewer. */
export async function readHead(path: string): Promise<Uint8Array> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(DETECT_BYTES), 0, DETECT_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
