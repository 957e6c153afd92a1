/** What is installed, what could be, and what a server with these settings uses of it. */
import { join } from 'node:path';
import { BRIDGE_FILE, type Family } from '../../engine/models/bridge.ts';
import { type InstalledModel, readInstalled } from '../../engine/models/installed.ts';
import { NO_FOLDER } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { bytesOf, type CatalogModel } from './catalog-model.ts';
import { installedBytes } from './verify.ts';

/** The settings that decide what is used. */
export type ModelSettings = Pick<Settings, 'MODELS_DIR' | 'TTS_MODEL' | 'TURN_MODEL' | 'ASR_MODEL' | 'ASR_FINAL_MODEL'>;

/** One model as people see it. */
export interface InventoryRow {
  readonly name: string;
  readonly family: Family;
  /** Of the installed one, else of the one that could be installed. */
  readonly version: string;
  /** `older` = installed, and this release knows another version. */
  readonly state: 'installed' | 'older' | 'available' | 'broken';
  readonly languages: readonly string[];
  readonly licence: string;
  /** What the licence asks of people who use it in business; null = nothing beside keeping the licence. */
  readonly obligation: string | null;
  readonly bytes: number;
  /** What the server uses it for; null = for nothing. */
  readonly use: 'voices' | 'turns' | 'captions' | 'partial captions' | 'final captions' | null;
  readonly about: string;
  /** Of a recogniser: its errors as its publisher states them; null = not known. */
  readonly accuracy: string | null;
  /** What is wrong with it, or what would be better: with the command that helps; null = nothing. */
  readonly advice: string | null;
}

/** What is installed in the folder of `settings`, and what the table has beside it. @throws errors of the disk */
export async function takeInventory(
  settings: ModelSettings,
  catalog: readonly CatalogModel[],
): Promise<InventoryRow[]> {
  const { models, problems } = readInstalled(settings.MODELS_DIR === NO_FOLDER ? '' : settings.MODELS_DIR);
  const rows: InventoryRow[] = [];
  for (const model of catalog) {
    const installed = models.find(({ name }) => name === model.name);
    const problem = problems.find((line) => line.startsWith(`${model.name}: `));
    if (installed !== undefined) rows.push(await describeInstalled(installed, model, settings, models));
    else rows.push(describeAvailable(model, problem ?? null));
  }
  for (const installed of models.filter(({ name }) => !catalog.some((model) => model.name === name)))
    rows.push(await describeInstalled(installed, null, settings, models));
  return rows;
}

/** One line for each folder that cannot be used, and is of no model of the table. */
export function strangeFolders({ MODELS_DIR }: ModelSettings, catalog: readonly CatalogModel[]): string[] {
  const { problems } = readInstalled(MODELS_DIR === NO_FOLDER ? '' : MODELS_DIR);
  return problems.filter((line) => !catalog.some(({ name }) => line.startsWith(`${name}: `)));
}

async function describeInstalled(
  { name, folder, bridge }: InstalledModel,
  known: CatalogModel | null,
  settings: ModelSettings,
  others: readonly InstalledModel[],
): Promise<InventoryRow> {
  const isOlder = known !== null && known.version !== bridge.version;
  const needed = known?.needs;
  const lacks = needed !== undefined && !others.some((other) => other.name === needed) ? needed : null;
  return {
    name,
    family: bridge.family,
    version: bridge.version,
    state: isOlder ? 'older' : 'installed',
    languages: bridge.languages,
    licence: bridge.licence,
    obligation: known?.obligation ?? null,
    bytes: await installedBytes(folder, bridge),
    use: lacks === null ? useOf(name, bridge.family, settings) : null,
    about: known?.about ?? `a model of your own, in ${join(name, BRIDGE_FILE)}`,
    accuracy: known?.accuracy ?? null,
    advice: describeAdvice(name, { isOlder, known, lacks }),
  };
}

function describeAdvice(
  name: string,
  { isOlder, known, lacks }: { isOlder: boolean; known: CatalogModel | null; lacks: string | null },
): string | null {
  if (lacks !== null) return `it needs ${lacks}: trunkline models add ${lacks}`;
  return isOlder ? `this release knows ${known?.version}: trunkline models add ${name}` : null;
}

function describeAvailable(model: CatalogModel, problem: string | null): InventoryRow {
  const { name, family, version, languages, licence, obligation = null, about, accuracy = null } = model;
  return {
    name,
    family,
    version,
    state: problem === null ? 'available' : 'broken',
    languages,
    licence,
    obligation,
    bytes: bytesOf(model),
    use: null,
    about,
    accuracy,
    advice: `${problem === null ? '' : `${problem.slice(name.length + 2)}: `}trunkline models add ${name}`,
  };
}

function useOf(name: string, family: Family, settings: ModelSettings): InventoryRow['use'] {
  const { TTS_MODEL, TURN_MODEL, ASR_MODEL, ASR_FINAL_MODEL } = settings;
  if (name === ASR_FINAL_MODEL) return 'final captions';
  if (name === ASR_MODEL) return ASR_FINAL_MODEL === '' ? 'captions' : 'partial captions';
  if (family === 'smart-turn') return TURN_MODEL === 'off' ? null : 'turns';
  if (family !== 'hibari' && family !== 'kokoro') return null;
  return TTS_MODEL === 'installed' ? 'voices' : null;
}
