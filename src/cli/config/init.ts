/** `trunkline config init`: writes trunkline.yaml from what is set now. */
import { writeFile } from 'node:fs/promises';
import { packagePath } from '../../foundation/folders/paths.ts';
import { givenSettings } from '../../foundation/settings/config.ts';
import { writeSettingsFile } from '../../foundation/settings/file/write-settings-file.ts';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';

/** `all` = all settings are described; `force` = a file that is there is replaced. */
export interface InitOptions {
  readonly all: boolean;
  readonly force: boolean;
}

/** Writes the file at `path`; `-` = standard output. */
export async function initConfig(path: string, { all, force }: InitOptions, { out, err }: Terminal): Promise<number> {
  const schemaPath = packagePath('docs', 'reference', 'settings.schema.json');
  const given = givenSettings();
  const text = writeSettingsFile(given, { all, schemaPath });
  if (path === '-') {
    out.raw(text);
    return EXIT_OK;
  }
  try {
    await writeFile(path, text, { flag: force ? 'w' : 'wx' });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    err.line(
      code === 'EEXIST'
        ? `trunkline: ${path} is there already: --force replaces it, and - prints the text`
        : `trunkline: ${path} cannot be written (${code})`,
    );
    return EXIT_FAILED;
  }
  out.line(`${path} has ${given.size === 1 ? 'the setting that is' : `the ${given.size} settings that are`} set now.`);
  out.line('Variables of the environment still win over it: unset those that it has, but not those of secrets.');
  return EXIT_OK;
}
