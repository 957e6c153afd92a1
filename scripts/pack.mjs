/**
 * Packs Trunkline as one file, `trunkline-<version>.tgz`, that runs from an empty folder and asks no registry:
 * `npx ./trunkline-<version>.tgz demo`. Run by `npm run pack [-- FOLDER]` after `npm ci`; FOLDER is where it goes.
 *
 * A plain `npm pack` would not do. npm applies `overrides` of package.json only where it stands at the root, so an
 * install would fetch the programs around the models and run the download of CUDA. Here the production packages of the
 * lock file go into the file as they are, without install scripts and without the packages that are overridden away.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where ONNX Runtime has a library and Trunkline is tried: macOS and Windows are not. */
const PLATFORM = 'linux';
const PROCESSORS = ['x64', 'arm64'];

const root = fileURLToPath(new URL('..', import.meta.url));
const own = readJson('package.json');
const { packages: locked } = readJson('package-lock.json');

function readJson(path) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}

/** Packages that run with Trunkline, by folder, those left out that only stand in for what an override removes. */
function packagesToBundle() {
  const entries = Object.entries(locked).filter(([folder, { dev, devOptional, name }]) => {
    return folder !== '' && !dev && !devOptional && name === undefined && existsSync(join(root, folder));
  });
  return new Map(entries);
}

/** The folder of the package that `name` means in `folder`, as Node looks for it; undefined = it is not bundled. */
function folderOf(name, folder, bundled) {
  for (let from = folder; ; from = from.slice(0, Math.max(from.lastIndexOf('/node_modules/'), 0))) {
    const found = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
    if (bundled.has(found)) return found;
    if (from === '') return undefined;
  }
}

/** What the package in `folder` needs, in the versions that are bundled. */
function dependenciesOf({ dependencies = {}, optionalDependencies = {} }, folder, bundled) {
  const found = Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => {
    const at = folderOf(name, folder, bundled);
    return at === undefined ? [] : [[name, bundled.get(at).version]];
  });
  return Object.fromEntries(found);
}

/** What packages bring and nobody reads when they run. npm would build whatever has a `binding.gyp`. */
const UNREAD = ['binding.gyp', 'test', 'tests', '__tests__', 'docs', 'example', 'examples', 'benchmark', 'benchmarks'];

/** Copies a package without that, maps of its source, and libraries for other platforms. */
function copyPackage(folder, stage, bundled) {
  const from = join(root, folder);
  const nested = join(from, 'node_modules');
  const libraries = join(root, 'node_modules', 'onnxruntime-node', 'bin', 'napi-v6');
  const isWanted = (path) => {
    if (path === nested || path.endsWith('.map') || UNREAD.some((name) => path === join(from, name))) return false;
    if (!path.startsWith(libraries + sep)) return true;
    const [platform, processor = PROCESSORS[0]] = path.slice(libraries.length + 1).split(sep);
    return platform === PLATFORM && PROCESSORS.includes(processor);
  };
  cpSync(from, join(stage, folder), { recursive: true, filter: isWanted });
  const { scripts, devDependencies, peerDependencies, peerDependenciesMeta, optionalDependencies, ...kept } = readJson(
    join(folder, 'package.json'),
  );
  const dependencies = dependenciesOf({ dependencies: kept.dependencies, optionalDependencies }, folder, bundled);
  writeJson(join(stage, folder, 'package.json'), { ...kept, dependencies });
}

function writeJson(path, content) {
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
}

function fillStage(stage) {
  const bundled = packagesToBundle();
  for (const name of own.files) {
    if (!existsSync(join(root, name))) throw new Error(`${name} is missing: run \`npm run build\` first`);
    cpSync(join(root, name), join(stage, name), {
      recursive: true,
      // The chart has a link to the alarms, and npm packs no links.
      dereference: true,
      filter: (path) => !path.endsWith('.map') && basename(path) !== '.tsbuildinfo',
    });
  }
  for (const folder of bundled.keys()) {
    mkdirSync(join(stage, folder), { recursive: true });
    copyPackage(folder, stage, bundled);
  }
  const { scripts, devDependencies, overrides, allowScripts, private: isPrivate, ...kept } = own;
  const dependencies = dependenciesOf({ dependencies: own.dependencies }, '', bundled);
  writeJson(join(stage, 'package.json'), {
    ...kept,
    os: [PLATFORM],
    cpu: PROCESSORS,
    dependencies,
    bundleDependencies: Object.keys(dependencies),
  });
  return bundled.size;
}

const target = resolve(process.argv[2] ?? '.');
mkdirSync(target, { recursive: true });
const stage = mkdtempSync(join(tmpdir(), 'trunkline-pack-'));
try {
  const count = fillStage(stage);
  const { status, stdout, stderr } = spawnSync('npm', ['pack', '--silent', '--pack-destination', target], {
    cwd: stage,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm pack ended with ${status}: ${stderr}`);
  const file = join(target, stdout.trim().split('\n').at(-1));
  const megabytes = Math.round(readFileSync(file).length / 1e6);
  console.log(`${file}: ${megabytes} MB with ${count} packages, for ${PLATFORM} (${PROCESSORS.join(', ')})`);
} finally {
  rmSync(stage, { recursive: true });
}
