/** The built `models add` of the pretend model in argv: folder, address. What it writes goes to standard error. */
const dist = (path) => import(new URL(`../../dist/src/${path}`, import.meta.url).href);
const { addModels } = await dist('cli/models/add.js');
const { openTerminal } = await dist('cli/terminal.js');
const [modelsDir, catalog] = process.argv.slice(2);
const context = {
  modelsDir,
  terminal: openTerminal(),
  confirm: null,
  catalog: JSON.parse(catalog),
  allowPrivate: true,
};
process.exitCode = await addModels(['lark'], { from: [], yes: true, json: false }, context);
