/** A test server for recordings, and what tests send it. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeWav } from '../../src/audio/wav.ts';
import { concat, silence, spoken } from '../fakes/engine.ts';
import { listen, startServer, type TestServer } from './test-server.ts';

export interface RecordingServer extends TestServer {
  readonly url: string;
  /** Names of the files that lie in the upload folder now. */
  files(): string[];
  close(): Promise<void>;
}

/** A listening server that keeps uploads in a folder of their own. */
export async function startRecordingServer(
  environment: Readonly<Record<string, string>> = {},
): Promise<RecordingServer> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  const testServer = await startServer({ UPLOAD_DIR: folder, ...environment });
  const url = await listen(testServer.app);
  return {
    ...testServer,
    url,
    files: () =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\/(?!owner\.)/.test(name)),
    async close() {
      await testServer.app.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * A WAV file in which the fake engine's words are said with a pause of 4 s between the lists, too long for them to be
 * heard together.
 */
export function speechFile(...utterances: readonly (readonly number[])[]): Blob {
  return wavFile([track(...utterances)]);
}

/** The samples of {@link speechFile}. */
export function track(...utterances: readonly (readonly number[])[]): Int16Array {
  return concat(
    ...utterances.flatMap((words, index) => [silence(index === 0 ? 0 : 4000), spoken(words)]),
    silence(600),
  );
}

/** A 16 kHz WAV file. */
export function wavFile(channels: Int16Array[]): Blob {
  return new Blob([writeWav(channels, 16_000) as Uint8Array<ArrayBuffer>]);
}

/** A form with `file` and the other fields, each as often as it is listed. */
export function formOf(file: Blob | null, fields: readonly (readonly [string, string])[] = []): FormData {
  const form = new FormData();
  if (file !== null) form.append('file', file, 'anything.bin');
  for (const [name, value] of fields) form.append(name, value);
  return form;
}
