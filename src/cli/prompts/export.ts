/** `trunkline prompts export`: WAV files of all prompts, and what a voice actor reads. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT_OK } from '../exit-codes.ts';
import type { RemoteContext } from '../remote/context.ts';
import { type FlowPromptLine, type PromptFilter, readPrompts, readSound } from './flow-prompts.ts';

const COLUMNS = ['file', 'language', 'recording', 'flow', 'step', 'part', 'voice', 'source', 'text'] as const;

/** Writes `<language>/<name>.wav` for each prompt, and `script.csv`. @throws ServerRefused; the file system's error */
export async function exportPrompts(folder: string, filter: PromptFilter, context: RemoteContext): Promise<number> {
  const { server, json, terminal } = context;
  const prompts = await readPrompts(server, filter);
  const rows: string[] = [COLUMNS.join(',')];
  const taken = new Set<string>();
  for (const prompt of prompts) {
    const name = freeName(prompt, taken);
    const language = plainName(prompt.language);
    const file = `${language}/${name}.wav`;
    terminal.err.live([{ text: `${taken.size} of ${prompts.length}: ${file}` }]);
    await mkdir(join(folder, language), { recursive: true });
    await writeFile(join(folder, file), await readSound(server, prompt.id));
    rows.push(rowOf({ ...prompt, file, recording: prompt.recording ?? name }));
  }
  terminal.err.live([]);
  await mkdir(folder, { recursive: true });
  // Spreadsheets take a file without this mark for another character set.
  await writeFile(join(folder, 'script.csv'), `\ufeff${rows.join('\r\n')}\r\n`);
  if (json) terminal.out.line(JSON.stringify({ folder, prompts: prompts.length }));
  else terminal.out.line(`${prompts.length} prompts are in ${folder}; script.csv says what each of them is.`);
  return EXIT_OK;
}

/** That of the recording where the flow names one; else made of the prompt's place. */
function freeName({ flow, step, part, recording, language }: FlowPromptLine, taken: Set<string>): string {
  const place = [flow, step ?? 'failed', ...(part === 'prompt' ? [] : [part])].join('-');
  const wanted = plainName(recording ?? place).slice(0, 60);
  let name = wanted;
  for (let n = 2; taken.has(`${language}/${name}`); n++) name = `${wanted}-${n}`;
  taken.add(`${language}/${name}`);
  return name;
}

/** What a server tells must not lead out of the folder. */
function plainName(name: string): string {
  return name.replace(/[^\w-]+/g, '-');
}

function rowOf(fields: Readonly<Record<(typeof COLUMNS)[number], string | null>>): string {
  return COLUMNS.map((column) => cell(fields[column] ?? '')).join(',');
}

/** RFC 4180. What a spreadsheet would take for a formula gets an apostrophe. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
