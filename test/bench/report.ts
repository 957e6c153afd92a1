/**
 * What a benchmark says: figures as tables, on the terminal and, with `--write`, as a page under
 * docs/internals/benchmarks/.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { packagePath } from '../../src/foundation/folders/paths.ts';

/** One table: a title, column heads and rows of cells. */
export interface Table {
  readonly title: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** A plot beside the tables; `name` is its file's, after the benchmark's. */
export interface Plot {
  readonly name: string;
  readonly title: string;
  readonly svg: string;
}

/** What one run of a benchmark found. */
export interface Report {
  readonly name: string;
  readonly about: string;
  readonly tables: readonly Table[];
  readonly plots?: readonly Plot[];
  /** What one must know to read the figures. */
  readonly notes?: readonly string[];
  /** Goals and whether this run met them. */
  readonly goals: readonly { readonly goal: string; readonly found: string; readonly met: boolean }[];
}

/** Prints `report` as Markdown and, when asked, writes it with its plots to docs/internals/benchmarks/. */
export function publish(report: Report, options: { readonly command: string; readonly write: boolean }): void {
  const page = toMarkdown(report, options.command);
  process.stdout.write(`\n${page}\n`);
  if (!options.write) return;
  const folder = packagePath('docs', 'internals', 'benchmarks');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${report.name}.md`), page);
  for (const plot of report.plots ?? []) writeFileSync(join(folder, plotFile(report, plot)), plot.svg);
}

function plotFile({ name }: Report, plot: Plot): string {
  return `${name}-${plot.name}.svg`;
}

function toMarkdown(report: Report, command: string): string {
  const date = new Date().toISOString().slice(0, 10);
  const head = [`# ${report.name}`, '', report.about, '', `\`${command}\` on ${machine()}, ${date}.`, ''];
  const plots = (report.plots ?? []).flatMap((plot) => [`![${plot.title}](${plotFile(report, plot)})`, '']);
  const tables = report.tables.flatMap((table) => [`## ${table.title}`, '', ...tableLines(table), '']);
  const notes = report.notes === undefined ? [] : [...report.notes.map((note) => `- ${note}`), ''];
  const goals: Table = {
    title: 'Goals',
    heads: ['goal', 'found', 'met'],
    rows: report.goals.map(({ goal, found, met }) => [goal, found, met ? 'yes' : 'no']),
  };
  const goalLines = report.goals.length === 0 ? [] : [`## ${goals.title}`, '', ...tableLines(goals), ''];
  return [...head, ...plots, ...tables, ...notes, ...goalLines].join('\n');
}

function tableLines(table: Table): string[] {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [line(table.heads), line(table.heads.map(() => '---')), ...table.rows.map(line)];
}

function machine(): string {
  const [first, ...others] = cpus();
  const memoryGiB = Math.round(totalmem() / 2 ** 30);
  return (
    `${others.length + 1} cores (${first?.model.trim() ?? 'unknown processor'}), ${memoryGiB} GiB, Node ` +
    `${process.version}`
  );
}

/** The `share` quantile (0–1) of `values`; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** The arithmetic mean of `values`; NaN of none. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** `value` with `digits` decimals, or a dash when there is none. */
export function figure(value: number, digits = 0): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '–';
}
