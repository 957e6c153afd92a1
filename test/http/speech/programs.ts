/** Programs made up for a test, to be found where ffmpeg would be. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ENCODERS = `Encoders:
 V..... = Video
 A....D flac                 FLAC (Free Lossless Audio Codec)
 A..X.. libopus              libopus Opus (codec opus)
 V....D gif                  GIF (Graphics Interchange Format)
`;

/** What one says when it is asked for its encoders: it has flac and libopus, and no aac. */
const LIST =
  `if (process.argv.includes('-encoders')) { process.stdout.write(${JSON.stringify(ENCODERS)}); ` +
  'process.exit(0); }';

/** Programs of one test. */
export class Programs {
  readonly #folder = mkdtempSync(join(tmpdir(), 'trunkline-ffmpeg-'));
  #made = 0;

  /** The path of a program that lists its encoders as ffmpeg does, and otherwise runs `code` (a Node module). */
  make(code: string): string {
    this.#made++;
    const path = join(this.#folder, `ffmpeg-${this.#made}.mjs`);
    writeFileSync(path, `#!${process.execPath}\n${LIST}\n${code}\n`, { mode: 0o755 });
    return path;
  }

  /** Takes them away. */
  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}

/** Writes its arguments as one line of JSON, then what it is given. */
export const ECHO =
  `process.stdout.write(JSON.stringify(process.argv.slice(2)) + '\\n'); ` + 'process.stdin.pipe(process.stdout);';
