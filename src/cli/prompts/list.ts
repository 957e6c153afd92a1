/** `trunkline prompts list`. */
import { EXIT_OK } from '../exit-codes.ts';
import { printable } from '../printable.ts';
import type { RemoteContext } from '../remote/context.ts';
import { type FlowPromptLine, type PromptFilter, readPrompts, readRecordings } from './flow-prompts.ts';

const SOURCES: Readonly<Record<FlowPromptLine['source'], string>> = {
  recorded: 'recorded',
  made: 'made ahead',
  values: 'with values',
};

/** Prints what flows say, and the recordings that cannot be used. @throws ServerRefused */
export async function listPrompts(filter: PromptFilter, { server, json, terminal }: RemoteContext): Promise<number> {
  const [prompts, recordings] = await Promise.all([readPrompts(server, filter), readRecordings(server)]);
  if (json) {
    terminal.out.line(JSON.stringify({ prompts, recordings }));
    return EXIT_OK;
  }
  for (const { flow, step, part, language, source, text, recording } of prompts) {
    const place = [flow, step ?? '(failed)', part].join(' ');
    const words = text === null ? `[${recording}]` : text;
    terminal.out.line(`${place}  ${language}  ${SOURCES[source]}  ${printable(words)}`);
  }
  const isFiltered = filter.flow !== undefined || filter.language !== undefined;
  if (prompts.length === 0)
    terminal.err.line(isFiltered ? 'No flow says anything there.' : 'No flow says anything: is FLOWS_DIR set?');
  for (const { path, error } of recordings)
    if (error !== null) terminal.err.line(`prompts/${printable(path)} is not used: ${printable(error)}`);
  return EXIT_OK;
}
