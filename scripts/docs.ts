/** `npm run docs`: writes the pages that are made from the code. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { flowSchemas } from '../src/flows/json-schemas.ts';
import { packagePath } from '../src/foundation/folders/paths.ts';
import { settingsSchema } from '../src/foundation/settings/file/settings-schema.ts';
import { carriersFile } from './carriers-page.ts';
import { openApiFile } from './openapi.ts';
import { settingsPage } from './settings-page.ts';

mkdirSync(packagePath('docs', 'reference'), { recursive: true });
writeFileSync(packagePath('docs', 'reference', 'settings.md'), settingsPage());
writeFileSync(packagePath('docs', 'reference', 'settings.schema.json'), settingsSchema());
for (const [name, text] of flowSchemas()) writeFileSync(packagePath('docs', 'reference', name), text);
writeFileSync(packagePath('src', 'console', 'page', 'carriers.js'), carriersFile());
writeFileSync(packagePath('docs', 'reference', 'openapi.yaml'), await openApiFile());
