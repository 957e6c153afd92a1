/** Who may import whom. */
import { importsOf, ownImportsOf, type SourceFile } from './source.ts';

const CORE = ['calls', 'protocols', 'transcription', 'speech', 'engine-client', 'audio'];
const STORING = ['records', 'cluster', 'recordings', 'listening', 'models', 'checks'];
/** What adds to the core by one folder and one line in the list of parts; none of them knows another. */
const PARTS = ['carriers', 'clients', 'flows', 'hints', 'tracing', 'jobs', 'administration', 'console'];

/**
 * The folders of `src` and the folders that each may import from, beside itself and the foundation. Files right under
 * `src` are in `FOLDER_OF_FILE`.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  cli: ['gateway', 'parts', 'http', ...PARTS, ...STORING, ...CORE, 'simulator'],
  gateway: ['parts', 'http', ...PARTS, ...STORING, ...CORE],
  carriers: ['parts', 'http', 'calls', 'protocols', 'audio', 'simulator'],
  clients: ['parts', 'http', ...CORE, 'recordings', 'listening'],
  console: ['parts', 'http'],
  parts: ['http', ...STORING, ...CORE],
  http: [...STORING, ...CORE],
  checks: ['models', 'engine-client', 'speech'],
  models: ['engine-client'],
  listening: ['transcription', 'engine-client', 'protocols', 'audio'],
  cluster: ['records', 'calls', 'protocols'],
  calls: ['protocols', 'transcription', 'speech', 'engine-client', 'audio'],
  flows: ['parts', 'http', 'records', ...CORE],
  records: ['calls', 'protocols', 'transcription', 'audio'],
  hints: ['parts', 'records', 'calls', 'protocols'],
  tracing: ['parts', 'calls', 'protocols', 'transcription'],
  jobs: ['parts', 'http', 'calls', 'cluster', 'recordings'],
  administration: ['parts', 'http', 'records'],
  recordings: ['transcription', 'engine-client', 'audio'],
  protocols: ['audio'],
  transcription: ['audio', 'engine-client'],
  speech: ['audio', 'engine-client'],
  'engine-client': ['protocols', 'audio'],
  simulator: ['protocols', 'audio', 'carriers'],
  audio: [],
  foundation: [],
};

/** Files right under `src`, which start everything. */
const FOLDER_OF_FILE: Readonly<Record<string, string>> = { 'api.ts': 'cli', 'cli.ts': 'cli' };

/** Others know the engines only as an interface; these may wire them. */
const ENGINE_INTERFACE = 'src/engine-client/engine.ts';
const MAY_WIRE_ENGINES = ['cli', 'gateway', 'checks', 'engine-client'];

/** What both sides import: their messages, what CUDA lacks, how an installed model's folder is read, what it takes. */
const SHARED = [
  'engine/contract.ts',
  'engine/expected-reading.ts',
  'engine/cuda/cuda-report.ts',
  'engine/cuda/elf.ts',
  'engine/job-costs.ts',
  'engine/recogniser-abilities.ts',
  'engine/models/bridge.ts',
  'engine/models/installed.ts',
  'engine/models/folder-names.ts',
  'engine/models/process-memory.ts',
  'engine/models/recogniser-folders.ts',
];

/** The folder of a file in `src`. */
function folderOf(path: string): string {
  const name = path.split('/')[1] ?? '';
  return FOLDER_OF_FILE[name] ?? name;
}

/** Imports that go up, sideways or into what is closed to them. */
export function findForbiddenImports(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    ownImportsOf(file)
      .filter(({ target }) => !isAllowed(file.path, target))
      .map(({ target }) => `${file.path} imports ${target}`),
  );
}

function isAllowed(from: string, target: string): boolean {
  if (from.startsWith('engine/')) return target.startsWith('engine/');
  if (target.startsWith('engine/')) return SHARED.includes(target);
  const [folder, targetFolder] = [folderOf(from), folderOf(target)];
  if (folder === targetFolder && !isOfOnePart(from, target)) return false;
  if (targetFolder === 'engine-client' && target !== ENGINE_INTERFACE && !MAY_WIRE_ENGINES.includes(folder))
    return false;
  return folder === targetFolder || targetFolder === 'foundation' || (MAY_IMPORT[folder] ?? []).includes(targetFolder);
}

/** Folders with a folder for each part, and `shared` for what they all use. */
const FOLDERS_OF_PARTS = /^src\/(?:carriers|clients)\/([^/]+)\//;

/** False where one carrier, or one family of clients, imports another. */
function isOfOnePart(from: string, target: string): boolean {
  const [part, targetPart] = [FOLDERS_OF_PARTS.exec(from)?.[1], FOLDERS_OF_PARTS.exec(target)?.[1]];
  return part === targetPart || targetPart === 'shared';
}

/**
 * Pure folders turn bytes and samples into others: no sockets, files or processes, no log, no metrics, and no clock but
 * the one they are given.
 */
const PURE = /^src\/(?:(?:audio|transcription|protocols)\/|(?:carriers|clients)\/[^/]+\/wire\/)/;
const OUTSIDE_WORLD =
  /^(node:(?!buffer$|crypto$|querystring$|util$)|ws$|fastify|@fastify\/|pino|prom-client|onnxruntime|sip\.js)/;

/** Imports by which a pure folder would touch the world. */
export function findImpureImports(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => PURE.test(path))
    .flatMap((file) => [
      ...importsOf(file)
        .filter(({ specifier, typeOnly }) => !typeOnly && OUTSIDE_WORLD.test(specifier))
        .map(({ specifier }) => `${file.path} imports ${specifier}`),
      ...ownImportsOf(file)
        .filter(
          ({ target, typeOnly }) =>
            /^src\/foundation\/(log\/|metrics\.ts|settings\/config\.ts)/.test(target) ||
            (target === 'src/foundation/clock.ts' && !typeOnly),
        )
        .map(({ target }) => `${file.path} imports ${target}`),
    ]);
}

/**
 * Native add-ons and model code belong to the engine process, which loads onnxruntime in one file: behind the switch
 * that turns its telemetry off.
 */
export function findModelCodeOutsideEngine(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    importsOf(file)
      .filter(({ specifier }) =>
        file.path.startsWith('engine/') ? isRuntime(file, specifier) : specifier.startsWith('onnxruntime'),
      )
      .map(({ specifier }) => `${file.path} imports ${specifier}`),
  );
}

function isRuntime(file: SourceFile, specifier: string): boolean {
  return specifier === 'onnxruntime-node' && file.path !== 'engine/onnxruntime.ts';
}

/** Folders of `src` whose files import each other in a circle, each circle once; the command line is one of them. */
export function findFolderCycles(files: readonly SourceFile[]): string[] {
  const targets = new Map<string, string[]>();
  for (const file of files.filter(({ path }) => path.startsWith('src/'))) {
    const folder = folderOf(file.path);
    const own = ownImportsOf(file).map(({ target }) => target);
    const others = own.filter((target) => target.startsWith('src/')).map(folderOf);
    targets.set(folder, [...(targets.get(folder) ?? []), ...others.filter((other) => other !== folder)]);
  }
  return circlesOf(targets);
}

/** Files that import each other in a circle, each circle once, as the path around it. */
export function findCycles(files: readonly SourceFile[]): string[] {
  return circlesOf(new Map(files.map((file) => [file.path, ownImportsOf(file).map(({ target }) => target)])));
}

function circlesOf(targets: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) cycles.push([...trail.slice(at), path].join(' → '));
    if (at >= 0 || done.has(path)) return;
    for (const target of targets.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  return cycles;
}
