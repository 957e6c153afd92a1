/// <reference path="./webassembly.d.ts" />
/**
 * The part of WASI that a command-line program needs to write one file: it takes the arguments and returns the bytes of
 * the file, all in memory. https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md
 */

const OK = 0;
const BAD_DESCRIPTOR = 8;

/** Standard input, output and error are 0 to 2; then the one folder there is, and the file in it. */
const FOLDER_FD = 3;
const FOLDER_NAME = Buffer.from('.');
const OUTPUT_FD = 4;

const TYPE_FOLDER = 3;
const TYPE_FILE = 4;
const ALL_RIGHTS = 0xffff_ffff_ffff_ffffn;

/**
 * Runs `module` once, in a new instance with its own memory.
 * @param programArguments begin with the program's name.
 * @returns what the program wrote into the file that it opened, whatever its name; empty when it opened none.
 * @throws Error when the program traps or exits with another code than 0.
 */
export function runProgram(module: WebAssembly.Module, programArguments: readonly string[]): Uint8Array {
  const system = new MemorySystem(programArguments);
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: system.calls });
  const { memory, _start: start } = instance.exports;
  if (!(memory instanceof WebAssembly.Memory) || typeof start !== 'function')
    throw new Error('the module is not a WASI program');
  system.memory = memory;
  try {
    start();
  } catch (error) {
    if (!(error instanceof ProgramExit)) throw error;
    if (error.code !== 0) throw new Error(`the program exited with code ${error.code}`);
  }
  return system.written;
}

class ProgramExit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** The calls that flite makes. All pointers are byte offsets into the program's memory, all numbers little-endian. */
class MemorySystem {
  readonly #arguments: readonly Buffer[];
  readonly #chunks: Uint8Array[] = [];
  /** The program's; it may grow and move at any time between two calls, so no view of it is kept. */
  memory = new WebAssembly.Memory({ initial: 0 });

  constructor(programArguments: readonly string[]) {
    this.#arguments = programArguments.map((argument) => Buffer.from(`${argument}\0`));
  }

  get written(): Uint8Array {
    return Buffer.concat(this.#chunks);
  }

  get calls(): Record<string, (...values: number[]) => number> {
    return {
      args_sizes_get: (countAt = 0, bytesAt = 0) => this.#sizeArguments(countAt, bytesAt),
      args_get: (pointersAt = 0, textAt = 0) => this.#giveArguments(pointersAt, textAt),
      clock_time_get: (_clock, _precision, timeAt = 0) => this.#tellTime(timeAt),
      proc_exit: (code = 0) => {
        throw new ProgramExit(code);
      },
      fd_prestat_get: (fd = 0, statAt = 0) => this.#describeFolder(fd, statAt),
      fd_prestat_dir_name: (_fd, nameAt = 0) => this.#nameFolder(nameAt),
      path_open: (...values) => this.#open(values[8] ?? 0),
      fd_fdstat_get: (fd = 0, statAt = 0) => this.#describe(fd, statAt),
      fd_fdstat_set_flags: () => OK,
      fd_seek: () => BAD_DESCRIPTOR,
      fd_close: () => OK,
      fd_read: (_fd, _vectors, _count, readAt = 0) => this.#readNothing(readAt),
      fd_write: (fd = 0, vectorsAt = 0, count = 0, writtenAt = 0) => this.#write(fd, { vectorsAt, count, writtenAt }),
    };
  }

  get #view(): DataView {
    return new DataView(this.memory.buffer);
  }

  #sizeArguments(countAt: number, bytesAt: number): number {
    const bytes = this.#arguments.reduce((sum, argument) => sum + argument.length, 0);
    this.#view.setUint32(countAt, this.#arguments.length, true);
    this.#view.setUint32(bytesAt, bytes, true);
    return OK;
  }

  #giveArguments(pointersAt: number, textAt: number): number {
    let at = textAt;
    for (const [index, argument] of this.#arguments.entries()) {
      this.#view.setUint32(pointersAt + index * 4, at, true);
      new Uint8Array(this.memory.buffer).set(argument, at);
      at += argument.length;
    }
    return OK;
  }

  /** Always the same, so that the same arguments give the same bytes. */
  #tellTime(timeAt: number): number {
    this.#view.setBigUint64(timeAt, 0n, true);
    return OK;
  }

  #describeFolder(fd: number, statAt: number): number {
    if (fd !== FOLDER_FD) return BAD_DESCRIPTOR;
    this.#view.setUint32(statAt, 0, true);
    this.#view.setUint32(statAt + 4, FOLDER_NAME.length, true);
    return OK;
  }

  #nameFolder(nameAt: number): number {
    new Uint8Array(this.memory.buffer).set(FOLDER_NAME, nameAt);
    return OK;
  }

  #open(fdAt: number): number {
    this.#view.setUint32(fdAt, OUTPUT_FD, true);
    return OK;
  }

  #describe(fd: number, statAt: number): number {
    this.#view.setUint32(statAt, fd === FOLDER_FD ? TYPE_FOLDER : TYPE_FILE, true);
    this.#view.setUint32(statAt + 4, 0, true);
    this.#view.setBigUint64(statAt + 8, ALL_RIGHTS, true);
    this.#view.setBigUint64(statAt + 16, ALL_RIGHTS, true);
    return OK;
  }

  #readNothing(readAt: number): number {
    this.#view.setUint32(readAt, 0, true);
    return OK;
  }

  /** Writes vectors of (offset, length); what goes to standard output or error is dropped. */
  #write(fd: number, { vectorsAt, count, writtenAt }: { vectorsAt: number; count: number; writtenAt: number }): number {
    let bytes = 0;
    for (let i = 0; i < count; i++) {
      const at = this.#view.getUint32(vectorsAt + i * 8, true);
      const length = this.#view.getUint32(vectorsAt + i * 8 + 4, true);
      if (fd === OUTPUT_FD) this.#chunks.push(new Uint8Array(this.memory.buffer.slice(at, at + length)));
      bytes += length;
    }
    this.#view.setUint32(writtenAt, bytes, true);
    return OK;
  }
}
