/** What `trunkline doctor` says of installed models: whether they are whole, and what would be better. */
import { readInstalled } from '../../engine/models/installed.ts';
import type { Finding } from '../foundation/finding.ts';
import { NO_FOLDER } from '../foundation/settings/config.ts';
import { CATALOG } from './catalog.ts';
import type { CatalogModel } from './catalog-model.ts';
import { type InventoryRow, type ModelSettings, strangeFolders, takeInventory } from './inventory.ts';
import { findFlaws } from './verify.ts';

/** A finding for each model that is installed or advised; with `hashes` every file is read. */
export async function checkInstalled(
  settings: ModelSettings,
  { hashes, catalog = CATALOG }: { readonly hashes: boolean; readonly catalog?: readonly CatalogModel[] },
): Promise<Finding[]> {
  if (settings.MODELS_DIR === NO_FOLDER)
    return [{ name: 'models', status: 'ok', detail: `MODELS_DIR=${NO_FOLDER}: those in the packages alone are used` }];
  try {
    const findings: Finding[] = [];
    for (const row of await takeInventory(settings, catalog)) {
      const isAdvised = catalog.some((model) => model.name === row.name && model.isAdvised);
      if (row.state !== 'available') findings.push(await describeInstalled(row, settings, { hashes, catalog }));
      else if (isAdvised) findings.push({ name: row.name, status: 'ok', detail: `not installed: ${offerOf(row)}` });
    }
    const strange = strangeFolders(settings, catalog);
    return [...findings, ...strange.map((detail): Finding => ({ name: 'models', status: 'warn', detail }))];
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return [{ name: 'models', status: 'warn', detail: `${settings.MODELS_DIR} cannot be read (${reason})` }];
  }
}

function offerOf({ about, advice }: InventoryRow): string {
  return `${about}; ${advice}`;
}

async function describeInstalled(
  row: InventoryRow,
  { MODELS_DIR }: ModelSettings,
  { hashes, catalog }: { readonly hashes: boolean; readonly catalog: readonly CatalogModel[] },
): Promise<Finding> {
  const { name, version, use, advice } = row;
  const model = readInstalled(MODELS_DIR).models.find((one) => one.name === name);
  if (model === undefined) return { name, status: 'warn', detail: `not whole: ${advice}` };
  const { wrong } = await findFlaws(model.folder, model.bridge, catalog, { hashes });
  if (wrong.length > 0)
    return { name, status: 'warn', detail: `not whole: ${wrong.join(', ')}; trunkline models add ${name}` };
  const files = Object.keys(model.bridge.files).length;
  const how = hashes ? 'by SHA-256' : 'by size; --hashes reads them';
  const used = use === null ? 'not used' : `used for ${use}`;
  if (advice !== null) return { name, status: 'warn', detail: `${version}, ${used}: ${advice}` };
  return { name, status: 'ok', detail: `${version}, ${used}; its ${files} files are whole (${how})` };
}
