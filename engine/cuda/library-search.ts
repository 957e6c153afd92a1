/** Where the system's loader finds a library, without loading it: ld.so(8), for glibc. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

/** What the loader looks at beside the file that needs a library. */
export interface LoaderView {
  /** LD_LIBRARY_PATH as the process has it; the loader reads it once, when the process starts. */
  readonly libraryPath: string;
  /** The cache that ldconfig(8) writes. */
  readonly cacheFile: string;
  /** Looked at last. */
  readonly folders: readonly string[];
}

const CACHE_MAX_BYTES = 64 * 2 ** 20;

/** What this process's loader looks at. */
export function ownLoaderView(): LoaderView {
  const multiarch = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  return {
    libraryPath: process.env['LD_LIBRARY_PATH'] ?? '',
    cacheFile: '/etc/ld.so.cache',
    folders: [`/lib/${multiarch}`, `/usr/lib/${multiarch}`, '/lib64', '/usr/lib64', '/lib', '/usr/lib'],
  };
}

/** A search for the libraries that one file needs. */
export class LibrarySearch {
  readonly #view: LoaderView;
  #cache: Buffer | null = null;

  constructor(view: LoaderView) {
    this.#view = view;
  }

  /**
   * The path of library `name`, e.g. `libcudart.so.12`; null = the loader finds none.
   * @param file the one that needs it
   * @param runPath of that file
   */
  find(name: string, file: string, runPath: readonly string[]): string | null {
    const own = runPath.map((folder) => folder.replace(/\$(?:ORIGIN|\{ORIGIN\})/, dirname(file)));
    // An empty part means the folder that the process is in; ours is nobody's place for libraries.
    const given = this.#view.libraryPath.split(/[:;]/).filter(isAbsolute);
    const inFolder = (folders: readonly string[]) => folders.map((folder) => join(folder, name)).find(existsSync);
    return inFolder([...given, ...own]) ?? this.#findInCache(name) ?? inFolder(this.#view.folders) ?? null;
  }

  /**
   * Each entry of the cache has the whole path as a string that ends in a zero, so the path is what stands before the
   * name. Its first bytes are no path.
   */
  #findInCache(name: string): string | null {
    this.#cache ??= readCache(this.#view.cacheFile);
    const wanted = Buffer.from(`/${name}\0`);
    for (let at = this.#cache.indexOf(wanted); at !== -1; at = this.#cache.indexOf(wanted, at + 1)) {
      const start = this.#cache.lastIndexOf(0, at) + 1;
      const path = this.#cache.toString('utf8', start, at + wanted.length - 1);
      if (isAbsolute(path) && existsSync(path)) return path;
    }
    return null;
  }
}

function readCache(path: string): Buffer {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return bytes === 0 || bytes > CACHE_MAX_BYTES ? Buffer.alloc(0) : readFileSync(path);
}
