/** Who may import whom. */
import { importsOf, ownImportsOf, type SourceFile } from './source.ts';

/**
 * The folders of `src` and the folders that each may import from, beside itself and the foundation. Files right under
 * `src` are in `FOLDER_OF_FILE`.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  top: [
    'server',
    'http',
    'cluster',
    'hints',
    'flows',
    'records',
    'tracing',
    'jobs',
    'recordings',
    'trunks',
    'listening',
    'calls',
    'protocols',
    'transcription',
    'speech',
    'engine-client',
    'simulator',
    'audio',
  ],
  server: [
    'http',
    'cluster',
    'flows',
    'records',
    'jobs',
    'recordings',
    'trunks',
    'listening',
    'calls',
    'protocols',
    'transcription',
    'speech',
    'engine-client',
    'audio',
  ],
  http: [
    'cluster',
    'flows',
    'records',
    'jobs',
    'recordings',
    'trunks',
    'listening',
    'calls',
    'protocols',
    'transcription',
    'speech',
    'engine-client',
    'audio',
  ],
  listening: ['transcription', 'engine-client', 'protocols', 'audio'],
  cluster: ['records', 'calls', 'protocols'],
  trunks: ['calls', 'protocols', 'audio'],
  calls: ['protocols', 'transcription', 'speech', 'engine-client', 'audio'],
  flows: ['calls', 'protocols', 'transcription', 'speech', 'engine-client', 'audio'],
  records: ['calls', 'protocols', 'transcription', 'audio'],
  hints: ['records', 'calls', 'protocols'],
  tracing: ['calls', 'protocols', 'transcription'],
  jobs: ['cluster', 'recordings'],
  recordings: ['transcription', 'engine-client', 'audio'],
  protocols: ['audio'],
  transcription: ['audio', 'engine-client'],
  speech: ['audio', 'engine-client'],
  'engine-client': ['protocols', 'audio'],
  simulator: ['protocols', 'audio'],
  audio: [],
  foundation: [],
};

const FOLDER_OF_FILE: Readonly<Record<string, string>> = {
  'api.ts': 'top',
  'main.ts': 'top',
  'serve.ts': 'top',
  'wiring.ts': 'top',
  'listen.ts': 'top',
  'start-lines.ts': 'top',
  'cli.ts': 'top',
  cli: 'top',
  'server.ts': 'server',
};

/** Others know the engines only as an interface; these may wire them. */
const ENGINE_INTERFACE = 'src/engine-client/engine.ts';
const MAY_WIRE_ENGINES = ['top', 'server', 'engine-client'];

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
  return FOLDER_OF_FILE[name] ?? (name.endsWith('.ts') ? 'top' : name);
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
  if (targetFolder === 'engine-client' && target !== ENGINE_INTERFACE && !MAY_WIRE_ENGINES.includes(folder))
    return false;
  return folder === targetFolder || targetFolder === 'foundation' || (MAY_IMPORT[folder] ?? []).includes(targetFolder);
}

/**
 * Pure folders turn bytes and samples into others: no sockets, files or processes, no log, no metrics, and no clock but
 * the one they are given.
 */
const PURE = /^src\/(audio|transcription|protocols)\//;
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

/** Files that import each other in a circle, each circle once, as the path around it. */
export function findCycles(files: readonly SourceFile[]): string[] {
  const targets = new Map(files.map((file) => [file.path, ownImportsOf(file).map(({ target }) => target)]));
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
