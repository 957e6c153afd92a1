/**
 * libopus (BSD licence), compiled to WebAssembly in the package `@evan/opus`. The package's own interface has neither
 * loss concealment nor forward error correction, so the file is loaded here. It needs nothing of the system; its
 * native add-ons are not used.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Of the two builds in the package the plain one: the one with SIMD is no faster for speech. */
const FILE = '@evan/opus/wasm/opus.wasm';

/** The functions of opus.h, by pointers into `memory`. What they return below 0 is an error. */
export interface OpusLibrary {
  readonly memory: WebAssembly.Memory;
  malloc(bytes: number): number;
  free(pointer: number): void;
  opus_encoder_get_size(channels: number): number;
  opus_encoder_init(encoder: number, rateHz: number, channels: number, application: number): number;
  opus_encoder_ctl_set(encoder: number, request: number, value: number): number;
  /** Returns the bytes of the packet. */
  opus_encode(encoder: number, samples: number, count: number, packet: number, bytesMax: number): number;
  opus_decoder_get_size(channels: number): number;
  opus_decoder_init(decoder: number, rateHz: number, channels: number): number;
  /** Returns the samples; `packet` 0 = it was lost, `recover` 1 = what it says of the packet before it. */
  opus_decode(
    decoder: number,
    packet: number,
    bytes: number,
    samples: number,
    countMax: number,
    recover: number,
  ): number;
}

let library: OpusLibrary | null = null;

/**
 * The library, loaded when it is first asked for (about 10 ms).
 * @throws Error when the package is not installed
 */
export function opusLibrary(): OpusLibrary {
  library ??= load();
  return library;
}

function load(): OpusLibrary {
  const module = new WebAssembly.Module(readFileSync(fileURLToPath(import.meta.resolve(FILE))));
  const nothing = () => 0;
  const { exports } = new WebAssembly.Instance(module, {
    env: { emscripten_notify_memory_growth: nothing },
    wasi_snapshot_preview1: { proc_exit: nothing, fd_close: nothing, fd_write: nothing, fd_seek: nothing },
  });
  (exports['_initialize'] as () => void)();
  return exports as unknown as OpusLibrary;
}
