/** Source files as the rules look at them: their code without comments and strings, and their imports. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** One file: its path from the repository root, with `/`, and what is in it. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/**
 * One import of a file of ours: where it leads (a path from the root) and whether it is `import type`, which is gone at
 * run time.
 */
export interface OwnImport {
  readonly target: string;
  readonly specifier: string;
  readonly typeOnly: boolean;
}

/** Every file under `folders` whose name ends in one of `endings`. */
export function readSources(folders: readonly string[], endings: readonly string[]): SourceFile[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => posix.join(folder, name)),
    )
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

/** What a token of the source is, as far as the rules need to know; tried in this order at each place. */
const TOKEN =
  /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(?<string>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")|(?<regex>(?<=(?:^|[(,=:[!&|?{};>\n]|return)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[dgimsuvy]*(?![\w$]))|(?<template>`)/g;

interface Token {
  readonly kind: 'comment' | 'string' | 'regex' | 'template';
  readonly text: string;
  readonly at: number;
}

/** The tokens of `text` that are no code, in order; what is in a template is one of them. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; ; ) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text);
    if (token === null) return tokens;
    const [kind] = Object.entries(token.groups ?? {}).find(([, value]) => value !== undefined) ?? [];
    at = kind === 'template' ? endOfTemplate(text, token.index) : token.index + token[0].length;
    tokens.push({ kind: kind as Token['kind'], text: text.slice(token.index, at), at: token.index });
  }
}

/** What stands in the `${}` of the templates of `text`. */
export function codeInTemplates(text: string): string[] {
  return tokensOf(text)
    .filter(({ kind }) => kind === 'template')
    .flatMap(({ text: template }) => substitutionsOf(template));
}

function substitutionsOf(template: string): string[] {
  const code: string[] = [];
  for (let at = 1; at < template.length; ) {
    if (template[at] === '\\') at += 2;
    else if (template.startsWith('${', at)) {
      const end = endOfSubstitution(template, at + 2);
      code.push(template.slice(at + 2, end - 1));
      at = end;
    } else at += 1;
  }
  return code;
}

/** `text` with comments blanked out (strings too, unless `keepStrings`); every line stays where it is. */
export function stripSource(text: string, keepStrings = false): string {
  let stripped = '';
  let end = 0;
  for (const token of tokensOf(text)) {
    stripped += text.slice(end, token.at);
    stripped += keepStrings && token.kind !== 'comment' ? token.text : blank(token.text);
    end = token.at + token.text.length;
  }
  return stripped + text.slice(end);
}

/** Numbers, from 0, of the lines of templates with line breaks: where these are is part of the text. */
export function linesInTemplates(text: string): ReadonlySet<number> {
  const lines = new Set<number>();
  for (const token of tokensOf(text)) {
    const first = text.slice(0, token.at).split('\n').length - 1;
    const breaks = token.text.split('\n').length - 1;
    if (token.kind === 'template' && breaks > 0) for (let line = first; line <= first + breaks; line++) lines.add(line);
  }
  return lines;
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

/** Where the template literal that begins at `start` ends; those inside its `${}` are part of it. */
function endOfTemplate(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '`') {
    if (text[at] === '\\') at += 2;
    else if (text.startsWith('${', at)) at = endOfSubstitution(text, at + 2);
    else at += 1;
  }
  return at + 1;
}

function endOfSubstitution(text: string, start: number): number {
  let depth = 1;
  let at = start;
  while (at < text.length && depth > 0) {
    if (text[at] === '`') {
      at = endOfTemplate(text, at);
      continue;
    }
    if (text[at] === '{') depth += 1;
    if (text[at] === '}') depth -= 1;
    at += 1;
  }
  return at;
}

const IMPORT =
  /\b(?:import|export)\s+(?<type>type\s)?(?:[\w*{}\s,$]+?\sfrom\s+)?'(?<from>[^']+)'|\bimport\(\s*'(?<dynamic>[^']+)'/g;

/** All module names that `file` imports or exports from, as written. */
export function importsOf(file: SourceFile): { specifier: string; typeOnly: boolean }[] {
  return [...stripSource(file.text, true).matchAll(IMPORT)].map(({ groups }) => ({
    specifier: groups?.['from'] ?? groups?.['dynamic'] ?? '',
    typeOnly: groups?.['type'] !== undefined,
  }));
}

/** Those of them that lead to files of ours. */
export function ownImportsOf(file: SourceFile): OwnImport[] {
  return importsOf(file)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map((found) => ({ ...found, target: posix.join(posix.dirname(file.path), found.specifier) }));
}
