/** `trunkline models list`, `verify`, `remove`, `where` and `pack`. */
import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { BRIDGE_FILE } from '../../../engine/models/bridge.ts';
import { type InstalledModel, readBridge, readInstalled } from '../../../engine/models/installed.ts';
import { systemClock } from '../../foundation/clock.ts';
import { formatBytes } from '../../foundation/format-bytes.ts';
import { NO_FOLDER } from '../../foundation/settings/config.ts';
import { CATALOG } from '../../models/catalog.ts';
import type { CatalogModel } from '../../models/catalog-model.ts';
import { type ModelSettings, strangeFolders, takeInventory } from '../../models/inventory.ts';
import { removeModel, requireModelsDir, withModelsFolder } from '../../models/models-folder.ts';
import { packModels } from '../../models/pack.ts';
import { findFlaws, installedBytes } from '../../models/verify.ts';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';
import { describeModels } from './model-list.ts';
import { Progress } from './progress.ts';

/** What the commands work with; tests have tables of their own. */
export interface ManageContext {
  readonly settings: ModelSettings;
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly catalog?: readonly CatalogModel[];
}

/** `trunkline models list`: what is installed, what could be, and what is used. */
export async function listModels({ settings, terminal, json, catalog = CATALOG }: ManageContext): Promise<number> {
  const { out } = terminal;
  const models = await takeInventory(settings, catalog);
  const problems = strangeFolders(settings, catalog);
  if (json) {
    out.line(JSON.stringify({ folder: settings.MODELS_DIR, models, problems }, null, 2));
    return EXIT_OK;
  }
  for (const line of describeModels(models, out)) out.line(line);
  for (const problem of problems) out.line(problem);
  out.line(settings.MODELS_DIR === NO_FOLDER ? 'MODELS_DIR=none: no model is used.' : `In ${settings.MODELS_DIR}`);
  return EXIT_OK;
}

/** `trunkline models where`: the folder. */
export async function showFolder({ settings, terminal, json }: ManageContext): Promise<number> {
  const folder = requireModelsDir(settings);
  const { models } = readInstalled(folder);
  let bytes = 0;
  for (const model of models) bytes += await installedBytes(model.folder, model.bridge);
  if (json) terminal.out.line(JSON.stringify({ folder, models: models.map(({ name }) => name), bytes }, null, 2));
  else terminal.out.line(folder);
  return EXIT_OK;
}

/** `trunkline models verify`: reads every file of the models `names`, or of all. Fails when one is not right. */
export async function verifyModels(names: readonly string[], context: ManageContext): Promise<number> {
  const { terminal, json, catalog = CATALOG } = context;
  const { models, problems } = select(names, context);
  const progress = new Progress(terminal.err, systemClock);
  const found = [];
  for (const { name, folder, bridge } of models) {
    progress.begin(`${name}: reading ${folder}`, await installedBytes(folder, bridge));
    const flaws = await findFlaws(folder, bridge, catalog, { hashes: true, onBytes: progress.add });
    progress.end();
    found.push({ name, version: bridge.version, whole: flaws.wrong.length === 0, ...flaws });
  }
  const isWhole = problems.length === 0 && found.every(({ whole }) => whole);
  if (json) terminal.out.line(JSON.stringify({ whole: isWhole, models: found, problems }, null, 2));
  else for (const line of [...found.flatMap(tell), ...problems]) terminal.out.line(line);
  return isWhole ? EXIT_OK : EXIT_FAILED;
}

function tell(row: { name: string; version: string; wrong: readonly string[]; unknown: readonly string[] }): string[] {
  const { name, version, wrong, unknown } = row;
  const others = unknown.length === 0 ? [] : [`  ${unknown.length} files that nobody reads: ${unknown.join(', ')}`];
  if (wrong.length === 0) return [`${name} ${version}: whole`, ...others];
  const remedy = `  trunkline models add ${name} gets them again`;
  return [`${name} ${version}: not whole`, ...wrong.map((line) => `  ${line}`), remedy, ...others];
}

/** `trunkline models remove`: the files that `bridge.json` names, and nothing else. */
export async function removeModels(names: readonly string[], context: ManageContext): Promise<number> {
  const { settings, terminal, json } = context;
  const modelsDir = requireModelsDir(settings);
  for (const name of names) await requireRemovable(modelsDir, name);
  const onWait = (who: string) => terminal.err.line(`Waiting for ${who}, which changes ${modelsDir}…`);
  return withModelsFolder(modelsDir, onWait, async () => {
    const removed = [];
    for (const name of names) {
      const folder = join(modelsDir, name);
      const bridge = readBridge(folder);
      const left = bridge === null ? [] : await removeModel(folder, bridge);
      removed.push({ name, left });
      if (json) continue;
      terminal.out.line(`${name} is removed. A server that runs goes on with it until it ends.`);
      if (left.length > 0) terminal.out.line(`  ${folder} is left, with files of others: ${left.join(', ')}`);
    }
    if (json) terminal.out.line(JSON.stringify({ removed }, null, 2));
    return EXIT_OK;
  });
}

/** `trunkline models pack`: one file with the models `names`, or with all. */
export async function packInto(path: string, names: readonly string[], context: ManageContext): Promise<number> {
  const { terminal, json } = context;
  const { models, problems } = select(names, context);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  if (models.length === 0) throw new Error('there is nothing to pack: no model is installed');
  const progress = new Progress(terminal.err, systemClock);
  let bytes = 0;
  for (const { folder, bridge } of models) bytes += await installedBytes(folder, bridge);
  progress.begin(`packing ${models.map(({ name }) => name).join(', ')}`, bytes);
  const size = await packModels(models, path, progress.add);
  progress.end();
  const packed = models.map(({ name, bridge: { version, licence } }) => ({ name, version, licence }));
  if (json) {
    terminal.out.line(JSON.stringify({ file: resolve(path), bytes: size, models: packed }, null, 2));
    return EXIT_OK;
  }
  terminal.out.line(`${path} has ${formatBytes(size)}. On the other machine: trunkline models add --from ${path}`);
  for (const { name, version, licence } of packed) terminal.out.line(`  ${name} ${version}, ${licence}`);
  return EXIT_OK;
}

/** The installed models `names`, or all; problems of those alone. @throws Error for one that is not installed */
function select(
  names: readonly string[],
  { settings }: ManageContext,
): { readonly models: readonly InstalledModel[]; readonly problems: readonly string[] } {
  const found = readInstalled(requireModelsDir(settings));
  if (names.length === 0) return found;
  const problems = found.problems.filter((line) => names.some((name) => line.startsWith(`${name}: `)));
  const models = found.models.filter(({ name }) => names.includes(name));
  const lost = names.find((one) => [...models, ...problems].every((other) => nameOf(other) !== one));
  if (lost !== undefined) throw new Error(`${lost} is not installed; trunkline models list shows what is`);
  return { models, problems };
}

function nameOf(found: InstalledModel | string): string {
  return typeof found === 'string' ? (found.split(':', 1)[0] ?? '') : found.name;
}

async function requireRemovable(modelsDir: string, name: string): Promise<void> {
  const folder = join(modelsDir, name);
  const found = await lstat(folder).catch(() => null);
  if (found === null || name !== name.replaceAll(/[/\\]/g, '') || name.startsWith('.'))
    throw new Error(`${name} is not installed; trunkline models list shows what is`);
  if (found.isSymbolicLink()) throw new Error(`${folder} is a link: remove it yourself`);
  if (readBridge(folder) === null)
    throw new Error(`${folder} has no ${BRIDGE_FILE}, so nobody knows whose its files are: remove it yourself`);
}
