/** Shortens paths of Unix sockets to what fits into a socket's address. */
import { mkdtemp, open, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** `sun_path` has 104 bytes on macOS and the BSDs and 108 on Linux, including the final zero (unix(4), unix(7)). */
const PATH_MAX_BYTES = 103;

/**
 * Runs `work` with a path of `name` in `folder` that fits into a socket's address. A path that is too long is replaced:
 * on Linux it goes through a descriptor of the folder, elsewhere through a link in the temporary folder. The path is
 * valid until `work` is done.
 * @throws the system's error when the folder cannot be opened or the link not created; what `work` throws
 */
export async function withSocketPath<T>(
  folder: string,
  name: string,
  work: (path: string) => Promise<T>,
  platform: NodeJS.Platform = process.platform,
): Promise<T> {
  const path = join(folder, name);
  if (Buffer.byteLength(path) <= PATH_MAX_BYTES) return work(path);
  return platform === 'linux'
    ? throughDescriptor(folder, (short) => work(join(short, name)))
    : throughLink(folder, (short) => work(join(short, name)));
}

async function throughDescriptor<T>(folder: string, work: (short: string) => Promise<T>): Promise<T> {
  const handle = await open(folder, 'r');
  try {
    return await work(`/proc/self/fd/${handle.fd}`);
  } finally {
    await handle.close();
  }
}

async function throughLink<T>(folder: string, work: (short: string) => Promise<T>): Promise<T> {
  const own = await mkdtemp(join(tmpdir(), 'tl-'));
  try {
    const link = join(own, 'f');
    await symlink(resolve(folder), link);
    return await work(link);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}
