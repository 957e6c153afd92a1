/** `trunkline models add`: tells licence and size, asks, and installs. */
import { join } from 'node:path';
import { systemClock } from '../../foundation/clock.ts';
import { formatBytes } from '../../foundation/format-bytes.ts';
import { CATALOG } from '../../models/catalog.ts';
import { type CatalogModel, findCatalogModel } from '../../models/catalog-model.ts';
import { freeBytes, install, isWhole } from '../../models/install.ts';
import { withModelsFolder } from '../../models/models-folder.ts';
import { type OpenRecogniser, readOwnFolder } from '../../models/own-folder.ts';
import { type SuppliedModel, suppliedModels } from '../../models/supplies.ts';
import { findTarget, type Target } from '../../models/target.ts';
import { EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK } from '../exit-codes.ts';
import { Interruption } from '../interruption.ts';
import type { Terminal } from '../terminal.ts';
import { Progress } from './progress.ts';

/** The options of the command. */
export interface AddOptions {
  /** What the operator has: nothing is fetched then. */
  readonly from: readonly string[];
  /** Fetch without asking; that accepts the licences that are told. */
  readonly yes: boolean;
  readonly json: boolean;
}

/** Where and by what means models are added; tests have tables and addresses of their own. */
export interface AddContext {
  readonly modelsDir: string;
  readonly terminal: Terminal;
  /** Asks a question that is answered with yes or no; null = there is nobody to ask. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
  /** Tries a recogniser that nobody vouches for. */
  readonly openRecogniser: OpenRecogniser;
  readonly catalog?: readonly CatalogModel[];
  readonly allowPrivate?: boolean;
}

interface Outcome {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly folder: string;
  /** `present` = it was there, and whole. */
  readonly state: 'installed' | 'present';
}

/**
 * Installs the models `names`; those that `from` has a `bridge.json` of, if there are no names. Returns the exit code.
 * @throws Error that says what is wrong and what helps
 */
export async function addModels(names: readonly string[], options: AddOptions, context: AddContext): Promise<number> {
  const { from } = options;
  const { modelsDir, terminal, catalog = CATALOG } = context;
  const supplied = await suppliedModels(from);
  for (const name of names)
    if (findCatalogModel(catalog, name) === undefined && !supplied.has(name))
      await addOwn(name, supplied, from, context);
  const wanted = [...new Set(names.length > 0 ? names : supplied.keys())];
  if (wanted.length === 0)
    throw new Error('which model? trunkline models list has their names; only bundles say it themselves');
  const targets = wanted.map((name) => findTarget(name, catalog, supplied));
  const abort = new AbortController();
  const interruption = new Interruption(() => abort.abort(new Error('interrupted')));
  const onWait = (who: string) => terminal.err.line(`Waiting for ${who}, which changes ${modelsDir}…`);
  try {
    return await withModelsFolder(modelsDir, onWait, () => addTargets(targets, options, context, abort.signal));
  } catch (error) {
    if (!interruption.came) throw error;
    terminal.err.line('Interrupted. What was fetched so far is kept: the same command goes on from there.');
    return EXIT_INTERRUPTED;
  } finally {
    interruption.ignore();
  }
}

/** Takes the one folder of `from` as the recogniser `name`, where it is one. */
async function addOwn(
  name: string,
  supplied: Map<string, SuppliedModel>,
  from: readonly string[],
  { openRecogniser, terminal }: AddContext,
): Promise<void> {
  const [folder, ...others] = from;
  if (folder === undefined || others.length > 0) return;
  const own = await readOwnFolder(name, folder, (path) => {
    terminal.err.line(`${name}: the speech engine opens ${folder}, to see whether it works`);
    return openRecogniser(path);
  });
  if (own !== null) supplied.set(name, own);
}

async function addTargets(
  targets: readonly Target[],
  options: AddOptions,
  context: AddContext,
  signal: AbortSignal,
): Promise<number> {
  const { from, json } = options;
  const { modelsDir, terminal, catalog = CATALOG, allowPrivate = false } = context;
  const progress = new Progress(terminal.err, systemClock);
  const present = new Set<Target>();
  if (from.length === 0)
    for (const target of targets) if (await isWhole(target, modelsDir, catalog)) present.add(target);
  const missing = targets.filter((target) => !present.has(target));
  for (const target of missing) await describe(target, from, modelsDir, terminal);
  if (missing.length > 0 && from.length === 0 && !(await isAgreed(missing, options, context))) {
    terminal.err.line('Nothing was fetched.');
    return EXIT_FAILED;
  }
  const outcomes: Outcome[] = [];
  for (const target of targets) {
    const { name, version, licence } = target;
    const isPresent = present.has(target);
    const fetch = { clock: systemClock, signal, allowPrivate };
    if (!isPresent) await install(target, from, { modelsDir, progress, fetch });
    const folder = join(modelsDir, name);
    outcomes.push({ name, version, licence, folder, state: isPresent ? 'present' : 'installed' });
    if (!json)
      terminal.out.line(`${name} ${version} is ${isPresent ? 'there already, and whole' : 'installed'}: ${folder}`);
  }
  if (json) terminal.out.line(JSON.stringify({ models: outcomes }, null, 2));
  else if (missing.length > 0) tellUse(missing, terminal);
  return EXIT_OK;
}

function tellUse(added: readonly Target[], { out }: Terminal): void {
  const chosen = added.filter(({ setting }) => setting !== null);
  if (chosen.length < added.length) out.line('A server uses it from its next start on.');
  for (const { name, setting } of chosen) out.line(`A server uses ${name} with ${setting}=${name}, from its start on.`);
}

async function describe(target: Target, from: readonly string[], modelsDir: string, { err }: Terminal): Promise<void> {
  const { name, version, about, licence, obligation, files, needs } = target;
  err.line(`${name} ${version}: ${about}`);
  err.line(`  licence  ${licence}`);
  if (obligation !== null) err.line(`           ${obligation}`);
  if (from.length === 0) err.line(`  fetches  ${describeSources(target)}`);
  const free = await freeBytes(modelsDir);
  err.line(`  keeps    ${formatBytes(sumOf(files))} in ${join(modelsDir, name)} (${formatBytes(free)} are free)`);
  if (needs !== null) err.line(`  needs    ${needs}`);
  if (files.some((file) => !('sha256' in file)))
    err.line(
      '  checks   sizes and CRC-32C of its publisher, whose SHA-256 this release does not know: that of what comes ' +
        'is kept, so that models verify finds later damage',
    );
}

function describeSources({ files, packages, addresses }: Target): string {
  const [address] = addresses;
  if (address !== undefined) return `${formatBytes(sumOf(files))}: ${files.length} files of ${address}`;
  return `${formatBytes(sumOf(packages))}: ${packages.map((one) => `${one.name} ${one.version}`).join(', ')}`;
}

function sumOf(all: readonly { readonly bytes: number }[]): number {
  return all.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** @throws Error when nobody can be asked */
async function isAgreed(missing: readonly Target[], { yes }: AddOptions, { confirm }: AddContext): Promise<boolean> {
  const lost = missing.find(({ packages, addresses }) => packages.length + addresses.length === 0);
  if (lost !== undefined) throw new Error(`${lost.name}: nobody publishes it: add it with --from`);
  if (yes) return true;
  if (confirm === null)
    throw new Error('nothing was fetched, for there is no terminal to ask on: --yes accepts the licence and fetches');
  return confirm(`Fetch ${missing.length === 1 ? 'it' : 'them'}, and accept the licence? [y/N] `);
}
