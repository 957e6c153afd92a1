/** The recognisers that `npm run bench -- recognisers` measures, one row each, and what runs beside them. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FIXED_ENGINE_SETTINGS } from '../../../src/engine-client/engine-client-factory.ts';
import { ENGINE_ENVIRONMENT } from '../../../src/engine-client/engine-fork.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { readSettings } from '../../../src/foundation/settings/config.ts';
import type { PeerCommand } from '../peers/peer.ts';

/** Something to be measured, or why it cannot be. */
export type Runnable = PeerCommand | { readonly missing: string };

/** A recogniser, and other programs with the same weights. */
export interface RecogniserRow {
  readonly name: string;
  /** What it is made of, for the report. */
  readonly about: string;
  readonly ours: Runnable;
  /** Our engine on the graphs as they are published. */
  readonly published: Runnable;
  /** Whether it always writes as many tokens as it may: random weights know no end. */
  readonly isEndless: boolean;
  /** By the heads of the report's columns; one that is not named is not comparable. */
  readonly peers: Readonly<Partial<Record<PeerName, Runnable>>>;
}

/** Programs that our engine is compared with. */
export const PEER_NAMES = ['transformers', 'sherpa-onnx'] as const;
export type PeerName = (typeof PEER_NAMES)[number];

/** How the models are made. */
export interface RowOptions {
  /** Of an interpreter that has what the exporters require; undefined = there is none. */
  readonly python: string | undefined;
  /** Encoder layers of the large models; the published ones have 24. */
  readonly parakeetLayers: number;
}

/** The rows, with those models made that are not there. It takes some minutes the first time. */
export function recogniserRows(options: RowOptions): RecogniserRow[] {
  return [
    {
      name: 'moonshine-tiny',
      about: 'the published weights, 8 bits',
      ours: oursOn('moonshine-tiny'),
      published: oursOn('moonshine-tiny', 'shipped'),
      isEndless: false,
      peers: {},
    },
    ...STREAMING_SHAPES.map((shape) => streamingRow(shape, options)),
    parakeetRow(options),
    qwenRow(options),
    whisperRow(options),
  ];
}

const STREAMING_SHAPES = ['tiny', 'small', 'medium'] as const;

function streamingRow(shape: (typeof STREAMING_SHAPES)[number], { python }: RowOptions): RecogniserRow {
  const exporter = packagePath('engine', 'export', 'moonshine-streaming');
  const made = makeModel(python, `streaming-${shape}`, exporter, ['--random', shape, '--int8', '--skip-self-test']);
  return {
    name: `moonshine-streaming ${shape}`,
    about: 'random weights in the true shape, 8 bits; in transformers float. 6.5 tokens in a second and 2 more',
    ours: whenMade(made, (folder) => oursOn(folder)),
    published: whenMade(made, (folder) => oursOn(folder, 'shipped')),
    isEndless: true,
    peers: {
      transformers:
        python === undefined
          ? { missing: NO_PYTHON }
          : { program: python, script: 'moonshine-streaming.py', parameters: [exporter, shape] },
    },
  };
}

function parakeetRow({ python, parakeetLayers: layers }: RowOptions): RecogniserRow {
  const exporter = packagePath('engine', 'export', 'parakeet-tdt');
  const make = (layout: string) =>
    makeModel(python, `parakeet-${layout}-${layers}`, exporter, [
      ...['--random', '0.6b', '--layers', String(layers)],
      ...['--layout', layout, '--weights', 'int8', '--skip-self-test'],
    ]);
  const script = 'parakeet.py';
  const istupakov = make('istupakov');
  return {
    name: 'parakeet-tdt 0.6b',
    about: `random weights in the true shape, ${layers} layers, 8 bits; in transformers float. 4.2 tokens in a second`,
    ours: whenMade(istupakov, (folder) => oursOn(folder)),
    published: whenMade(istupakov, (folder) => oursOn(folder, 'shipped')),
    isEndless: false,
    peers: {
      transformers:
        python === undefined
          ? { missing: NO_PYTHON }
          : { program: python, script, parameters: ['transformers', exporter, String(layers)] },
      'sherpa-onnx': whenMade(make('sherpa'), (folder) => ({
        program: python ?? '',
        script,
        parameters: ['sherpa', exporter, folder],
      })),
    },
  };
}

function qwenRow({ python }: RowOptions): RecogniserRow {
  const exporter = packagePath('engine', 'export', 'qwen3-asr');
  const parameters = ['--random', '0.6b', '--dtype', 'int8', '--skip-self-test'];
  const made = makeModel(python, 'qwen3-asr-0.6b', exporter, parameters, []);
  return {
    name: 'qwen3-asr 0.6b',
    about: 'random weights in the true shape, 8 bits. 13 tokens in a second and 10 more',
    ours: whenMade(made, (folder) => oursOn(folder)),
    published: { missing: 'what is published has other graphs' },
    isEndless: true,
    peers: {},
  };
}

/** Ours has the layout of our exporter; the published one a window of 30 s. */
function whisperRow({ python }: RowOptions): RecogniserRow {
  const shape = 'base';
  const exporter = packagePath('engine', 'export', 'whisper');
  const make = (layout: string) =>
    makeModel(python, `whisper-${layout}-${shape}`, exporter, [
      ...['--random', shape, '--layout', layout, '--weights', 'int8', '--languages', 'en', '--skip-self-test'],
    ]);
  return {
    name: `whisper ${shape}`,
    about:
      'random weights in the true shape, 8 bits, the window as long as the speech and 1 s more; as published and in ' +
      'transformers it is 30 s, and there float. 6.5 tokens in a second and 2 more',
    ours: whenMade(make('ours'), (folder) => oursOn(folder)),
    published: whenMade(make('published'), (folder) => oursOn(folder, 'shipped')),
    isEndless: true,
    peers: {
      transformers:
        python === undefined
          ? { missing: NO_PYTHON }
          : { program: python, script: 'whisper.py', parameters: [exporter, shape] },
    },
  };
}

const NO_PYTHON = 'it takes --python, an interpreter with what engine/export/*/requirements.txt names';

type Made = { readonly folder: string } | { readonly missing: string };

function whenMade(made: Made, command: (folder: string) => PeerCommand): Runnable {
  return 'folder' in made ? command(made.folder) : made;
}

/**
 * A model in a folder under the system's temporary one, which is used again: its bridge.json is written last.
 * @param out what the exporter is told before the folder
 */
function makeModel(
  python: string | undefined,
  name: string,
  exporter: string,
  parameters: readonly string[],
  out: readonly string[] = ['--out'],
): Made {
  const folder = join(tmpdir(), `trunkline-bench-${name}`);
  if (existsSync(join(folder, 'bridge.json'))) return { folder };
  if (python === undefined) return { missing: NO_PYTHON };
  process.stderr.write(`making ${folder}\n`);
  const { status, stderr } = spawnSync(python, [join(exporter, 'export.py'), ...parameters, ...out, folder], {
    encoding: 'utf8',
    env: { ...process.env, HF_HUB_OFFLINE: '1' },
  });
  return status === 0 ? { folder } : { missing: `not made: ${stderr.trim().split('\n').at(-1)}` };
}

function oursOn(model: string, graphs: 'rewritten' | 'shipped' = 'rewritten'): PeerCommand {
  const { MODEL_CACHE_DIR } = readSettings({});
  return {
    script: 'recogniser.mjs',
    parameters: [
      packagePath('dist', 'engine'),
      model,
      MODEL_CACHE_DIR,
      String(FIXED_ENGINE_SETTINGS.decodeRunTokens),
      graphs,
    ],
    environment: ENGINE_ENVIRONMENT,
  };
}
