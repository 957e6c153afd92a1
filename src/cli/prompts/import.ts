/** `trunkline prompts import`: recordings into FLOWS_DIR/prompts. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.ts';
import { printable } from '../printable.ts';
import type { RemoteContext } from '../remote/context.ts';
import { ServerRefused } from '../server-client.ts';
import { readPrompts, recordingAnswer } from './flow-prompts.ts';

const SOUND = /\.(wav|mp3|flac|ogg|oga|opus)$/i;

interface FoundFile {
  readonly path: string;
  readonly language: string;
  readonly name: string;
}

/** Uploads every recording of a folder. Exits with 1 when one cannot be used. @throws the file system's error */
export async function importRecordings(
  folder: string,
  language: string | null,
  { server, json, terminal }: RemoteContext,
): Promise<number> {
  const files = await findFiles(folder, language);
  const used = new Set((await readPrompts(server, {})).map(({ recording }) => recording));
  let failed = 0;
  for (const { path, language: spoken, name } of files) {
    const form = new FormData();
    form.set('name', name);
    form.set('language', spoken);
    form.set('file', new Blob([new Uint8Array(await readFile(path))]), `${name}.wav`);
    const error = await server.ask('POST', '/v1/flow-recordings', recordingAnswer, form).then(
      (kept) => kept.error,
      (cause: unknown) => {
        if (cause instanceof ServerRefused) return cause.message;
        throw cause;
      },
    );
    if (error !== null) failed++;
    if (json) terminal.out.line(JSON.stringify({ file: path, language: spoken, name, error, isUsed: used.has(name) }));
    else if (error !== null) terminal.err.line(`${printable(path)}: ${printable(error)}`);
    else if (!used.has(name)) terminal.err.line(`${printable(path)}: no flow plays it yet: {recording: ${name}}`);
  }
  if (!json) terminal.out.line(`${files.length - failed} of ${files.length} recordings were taken over.`);
  return failed > 0 ? EXIT_FAILED : EXIT_OK;
}

async function findFiles(folder: string, language: string | null): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  for (const entry of (await readdir(folder, { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && language === null)
      for (const name of (await readdir(path)).toSorted())
        if (SOUND.test(name)) found.push(fileOf(join(path, name), name, entry.name));
    if (entry.isFile() && language !== null && SOUND.test(entry.name)) found.push(fileOf(path, entry.name, language));
  }
  return found;
}

function fileOf(path: string, file: string, language: string): FoundFile {
  return { path, language, name: file.replace(SOUND, '') };
}
