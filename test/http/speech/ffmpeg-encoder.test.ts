import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FfmpegEncoder } from '../../../src/http/speech/ffmpeg-encoder.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { eventually, PATIENCE_MS } from '../../helpers/eventually.ts';
import { ECHO, Programs } from './programs.ts';

const ENCODING = { rateHz: 16_000, output: ['-c:a', 'flac', '-f', 'flac'] };
const STALL_MS = 12_000;

let clock: FakeClock;
let programs: Programs;
let gone: AbortController;
beforeEach(() => {
  clock = new FakeClock();
  programs = new Programs();
  gone = new AbortController();
});
afterEach(() => {
  gone.abort();
  programs.remove();
});

function encode(code: string, sound: AsyncIterable<Uint8Array>) {
  return new FfmpegEncoder({ command: programs.make(code), clock }).encode(sound, ENCODING, gone.signal);
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

async function* sound(...chunks: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function* failing(...chunks: readonly string[]): AsyncGenerator<Uint8Array> {
  yield* sound(...chunks);
  throw new Error('lost its voice');
}

/** Goes on for ever, and tells how much of it was taken and that it was ended. */
function endless(chunk: Buffer) {
  const state = { taken: 0, ended: false };
  async function* make(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        state.taken++;
        yield chunk;
      }
    } finally {
      state.ended = true;
    }
  }
  return { state, chunks: make() };
}

describe('FfmpegEncoder', () => {
  it('is asked once which encoders for sound it has', async () => {
    const ffmpeg = new FfmpegEncoder({ command: programs.make(ECHO), clock });
    expect([...(await ffmpeg.encoders())]).toEqual(['flac', 'libopus']);
    expect(ffmpeg.encoders()).toBe(ffmpeg.encoders());
  });

  it('has none where it is not installed', async () => {
    expect((await new FfmpegEncoder({ command: '/nonexistent/ffmpeg', clock }).encoders()).size).toBe(0);
  });

  it('gets options for its input and output, and the whole sound in order', async () => {
    const [args, rest] = (await collect(encode(ECHO, sound('one ', 'two ', 'three')))).split('\n');
    expect(JSON.parse(args ?? '').join(' ')).toBe(
      '-hide_banner -nostdin -loglevel error -f s16le -ar 16000 -ac 1 -i pipe:0 -c:a flac -f flac -flush_packets 1 ' +
        'pipe:1',
    );
    expect(rest).toBe('one two three');
  });

  it('is not started for a sound that is none, or that fails at once', async () => {
    const never = new FfmpegEncoder({ command: '/nonexistent/ffmpeg', clock });
    expect(await collect(never.encode(sound(), ENCODING, gone.signal))).toBe('');
    await expect(collect(never.encode(failing(), ENCODING, gone.signal))).rejects.toThrow('lost its voice');
  });

  it('fails with what the sound fails with', async () => {
    await expect(collect(encode(ECHO, failing('one')))).rejects.toThrow('lost its voice');
  });

  it('fails with what it complained of', async () => {
    const code = `process.stderr.write('no such thing'); process.exitCode = 3;`;
    await expect(collect(encode(code, sound('one')))).rejects.toThrow('ffmpeg ended with 3: no such thing');
  });

  it('fails when it cannot be started', async () => {
    const ffmpeg = new FfmpegEncoder({ command: '/nonexistent/ffmpeg', clock });
    await expect(collect(ffmpeg.encode(sound('one'), ENCODING, gone.signal))).rejects.toThrow('could not be started');
  });

  it('fails when it dies before it has read everything', async () => {
    const { chunks, state } = endless(Buffer.alloc(65_536));
    const code = `process.stdin.once('data', () => process.kill(process.pid, 'SIGKILL'));`;
    await expect(collect(encode(code, chunks))).rejects.toThrow('ffmpeg ended with SIGKILL');
    await eventually(() => expect(state.ended).toBe(true));
  });

  it('is given no more than is taken from it', async () => {
    const { chunks, state } = endless(Buffer.alloc(65_536));
    const encoded = encode(ECHO, chunks);
    await encoded.next();
    let last = -1;
    await vi.waitFor(
      () => {
        const before = last;
        last = state.taken;
        expect(last).toBe(before);
      },
      { interval: 100, timeout: PATIENCE_MS },
    );
    expect(state.taken).toBeLessThan(40);
    await encoded.return();
    await eventually(() => expect(state.ended).toBe(true));
  });

  it('is ended when nobody wants it any more, however it hangs', async () => {
    const { chunks, state } = endless(Buffer.alloc(65_536));
    const pending = collect(
      encode(`process.stdin.once('data', () => undefined); setInterval(() => undefined, 1000);`, chunks),
    );
    await eventually(() => expect(state.taken).toBeGreaterThan(1));
    gone.abort();
    await expect(pending).rejects.toThrow('SIGKILL');
  });

  it('is ended when it has everything and gives nothing back', async () => {
    let failure: unknown = null;
    collect(encode('setInterval(() => undefined, 1000);', sound('one'))).catch((error: unknown) => {
      failure = error;
    });
    await eventually(() => {
      clock.advance(1000);
      expect(String(failure)).toContain('SIGKILL');
    });
    expect(clock.pending).toBe(0);
  });

  it('may take its time while the sound is still being made', async () => {
    let release: () => void = () => undefined;
    const waiting = new Promise<void>((resolve) => {
      release = resolve;
    });
    let asked = false;
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('one ');
      asked = true;
      await waiting;
      yield Buffer.from('two');
    }
    const pending = collect(encode(ECHO, slow()));
    await eventually(() => expect(asked).toBe(true));
    clock.advance(10 * STALL_MS);
    release();
    expect(await pending).toMatch(/one two$/);
  });
});
