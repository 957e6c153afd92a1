/** The checks of `trunkline doctor`. Each returns findings and never throws. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { ENGINE_RATE_HZ, type RecogniserRole, VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import type { CudaReport } from '../../engine/cuda/cuda-report.ts';
import { findCpuProblem } from '../engine-client/cpu-pinning.ts';
import { createEngineClient, finalWorkersOf, workersOf } from '../engine-client/engine-client-factory.ts';
import type { RecogniserInfo } from '../engine-client/engine-status.ts';
import type { ManagedEngine } from '../engine-client/managed-engine.ts';
import { engineMemory } from '../engine-client/memory-budget.ts';
import { systemClock } from '../foundation/clock.ts';
import type { Finding } from '../foundation/finding.ts';
import { packagePath } from '../foundation/folders/paths.ts';
import { createLog } from '../foundation/log/log.ts';
import { coresAvailable } from '../foundation/machine/cores.ts';
import { Metrics } from '../foundation/metrics.ts';
import {
  ConfigError,
  exposureWithoutUsers,
  findWarnings,
  loadSettings,
  readSettings,
} from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { samplesToMs } from '../foundation/units.ts';
import { findVoiceMapProblem, readVoiceMap } from '../speech/voice-map.ts';
import { resolveVoice } from '../speech/voices.ts';
import { checkGpu, describeCuda } from './check-cuda.ts';

const run = promisify(execFile);
const PROGRAM_TIMEOUT_MS = 20_000;

/**
 * The settings and warnings about them. If they have problems: the defaults, so that the other checks can run, and a
 * finding for each problem.
 */
export function checkSettings(): { settings: Settings; findings: Finding[] } {
  try {
    const settings = loadSettings({ users: 'unknown' });
    const exposure = exposureWithoutUsers(settings);
    const unless = exposure === null ? [] : [`The server starts only if there are users. ${exposure}`];
    const warnings = [...unless, ...findWarnings(settings)].map(
      (detail): Finding => ({ name: 'settings', status: 'warn', detail }),
    );
    const unpinnable = findCpuProblem(settings.ENGINE_CPUS);
    if (unpinnable !== null) throw new ConfigError([unpinnable]);
    const { filePath } = settings.sources;
    const detail = `all values are valid${filePath === null ? '' : ` (the environment and ${filePath})`}`;
    return { settings, findings: [{ name: 'settings', status: 'ok', detail }, ...warnings] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const findings = error.problems.map((detail): Finding => ({ name: 'settings', status: 'fail', detail }));
    return { settings: readSettings({}), findings };
  }
}

/** Whether this Node.js is new enough for package.json's `engines`. */
export async function checkNode(version: string = process.versions.node): Promise<Finding> {
  const { engines } = JSON.parse(await readFile(packagePath('package.json'), 'utf8')) as { engines: { node: string } };
  const wanted = engines.node.replace('>=', '');
  const isEnough = compareVersions(version, wanted) >= 0;
  const detail = isEnough
    ? version
    : `found ${version}, but Trunkline needs ${wanted} or later: install a newer Node.js`;
  return { name: 'node', status: isEnough ? 'ok' : 'fail', detail };
}

function compareVersions(a: string, b: string): number {
  const [partsA, partsB] = [a, b].map((version) => version.split('.').map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (partsA?.[i] ?? 0) - (partsB?.[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

interface Probe {
  readonly version: string;
  readonly backends: readonly string[];
  readonly cuda: CudaReport;
}

/**
 * Whether the model runtime loads here, and whether CUDA could be used. In a process of its own: a native add-on can
 * crash its process.
 */
export async function checkRuntime({ EXECUTION_PROVIDER: provider }: Settings): Promise<Finding[]> {
  try {
    const { stdout } = await run(process.execPath, [packagePath('dist', 'engine', 'probe.js')], {
      timeout: PROGRAM_TIMEOUT_MS,
    });
    const { version, backends, cuda } = JSON.parse(stdout) as Probe;
    const runtime: Finding = { name: 'onnxruntime', status: 'ok', detail: `${version}: ${backends.join(', ')}` };
    return [runtime, ...describeCuda(provider, cuda), ...(await checkGpu(provider))];
  } catch (error) {
    const reason = lastLine(error instanceof Error ? error.message : String(error));
    return [
      {
        name: 'onnxruntime',
        status: 'fail',
        detail: `does not load (${reason}): run \`npm ci\` and \`npm run build\` again`,
      },
    ];
  }
}

/** Whether an engine process starts with the models of the settings, and how long one tiny run of each takes. */
export async function checkModels(settings: Settings): Promise<Finding[]> {
  let refusal: string | null = null;
  const engineClient = createEngineClient(
    { ...settings, ASR_URL: [], TTS_URL: [], ENGINE_WORKERS: 1, ENGINE_FINAL_WORKERS: 1 },
    {
      clock: systemClock,
      log: createLog('silent'),
      metrics: new Metrics(),
      onRefused: (message) => {
        refusal = message;
      },
    },
  );
  try {
    await engineClient.start();
    return [
      await tryDetector(engineClient),
      await tryRecogniser(engineClient, 'live'),
      ...(settings.ASR_FINAL_MODEL === '' ? [] : [await tryRecogniser(engineClient, 'final')]),
      await trySpeaker(engineClient, settings),
      ...(await tryTurnDetector(engineClient)),
      ...checkVoiceMap(engineClient, settings),
    ];
  } catch (error) {
    const reason = refusal ?? (error instanceof Error ? error.message : String(error));
    return [{ name: 'models', status: 'fail', detail: `the speech engine does not start: ${reason}` }];
  } finally {
    await engineClient.close();
  }
}

async function tryDetector(engineClient: ManagedEngine): Promise<Finding> {
  const startMs = systemClock.nowMs();
  await engineClient.detect({ samples: new Int16Array(VAD_WINDOW_SAMPLES), state: null });
  return {
    name: 'vad model',
    status: 'ok',
    detail: `${engineClient.status.models?.vad} checked 32 ms of audio in ${sinceMs(startMs)} ms`,
  };
}

async function tryRecogniser(engineClient: ManagedEngine, use: RecogniserRole): Promise<Finding> {
  const buzz = Int16Array.from(
    { length: ENGINE_RATE_HZ },
    (_, i) => ((i * 120) % ENGINE_RATE_HZ) / 4 - ENGINE_RATE_HZ / 8,
  );
  const startMs = systemClock.nowMs();
  const { by = 'live' } = await engineClient.transcribe({
    samples: buzz,
    urgency: 'final',
    dueInMs: 1000,
    draft: [],
    use,
  });
  const { recogniser, final, provider } = engineClient.status;
  const name = use === 'final' ? 'final model' : 'asr model';
  if (use === 'final' && by === 'live')
    return { name, status: 'fail', detail: 'no engine starts with ASR_FINAL_MODEL: ASR_MODEL would read everything' };
  const found = use === 'final' ? final?.recogniser : recogniser;
  return {
    name,
    status: 'ok',
    detail: `${describe(found)} on ${provider} decoded 1 s of audio in ${sinceMs(startMs)} ms`,
  };
}

/** Most languages that are listed. */
const LANGUAGES_SHOWN = 6;

function describe(recogniser: RecogniserInfo | null | undefined): string {
  if (!recogniser) return 'a recogniser';
  const { name, languages, licence } = recogniser;
  const shown = languages.slice(0, LANGUAGES_SHOWN).join(', ');
  const more = languages.length > LANGUAGES_SHOWN ? ` and ${languages.length - LANGUAGES_SHOWN} more` : '';
  return `${name} (${shown}${more}${licence === null ? '' : `; ${licence}`})`;
}

async function trySpeaker(engineClient: ManagedEngine, { DEFAULT_VOICE, VOICE_MAP }: Settings): Promise<Finding> {
  const startMs = systemClock.nowMs();
  try {
    const voice = resolveVoice(undefined, engineClient.voices, DEFAULT_VOICE, readVoiceMap(VOICE_MAP)).name;
    const { samples, rateHz } = await engineClient.speak({
      text: 'Hello.',
      voice,
      speed: 1,
      urgency: 'speak',
      dueInMs: 1000,
    });
    const spoken =
      `${voice} on ${engineClient.status.models?.tts} spoke ${Math.round(samplesToMs(samples.length, rateHz))} ` +
      'ms of audio';
    return { name: 'tts model', status: 'ok', detail: `${spoken} in ${sinceMs(startMs)} ms` };
  } catch (error) {
    return {
      name: 'tts model',
      status: 'fail',
      detail: `DEFAULT_VOICE cannot speak: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

/** Nothing where none is installed or wanted. */
async function tryTurnDetector(engineClient: ManagedEngine): Promise<Finding[]> {
  const { turnModel } = engineClient;
  if (turnModel === null) return [];
  const startMs = systemClock.nowMs();
  await engineClient.turn({ samples: new Int16Array(ENGINE_RATE_HZ), dueInMs: 1000 });
  const detail = `${turnModel} decided on 1 s of audio in ${sinceMs(startMs)} ms`;
  return [{ name: 'turn model', status: 'ok', detail }];
}

/** Nothing when every voice of VOICE_MAP exists. */
function checkVoiceMap({ voices }: ManagedEngine, { VOICE_MAP }: Settings): Finding[] {
  const problem = findVoiceMapProblem(readVoiceMap(VOICE_MAP), voices);
  return problem === null ? [] : [{ name: 'voice map', status: 'fail', detail: problem }];
}

function sinceMs(startMs: number): number {
  return Math.round(systemClock.nowMs() - startMs);
}

/** Whether the engine processes of the settings fit the cores. */
export function checkCores(settings: Settings, cores: number = coresAvailable()): Finding {
  const workers = workersOf(settings, cores);
  const finalWorkers = finalWorkersOf(settings, cores);
  const threads = workers * settings.ENGINE_THREADS;
  const found = Number.isInteger(cores) ? cores : cores.toFixed(1);
  const detail =
    `${found} found; ${workers} engine processes of ${settings.ENGINE_THREADS} thread(s)` +
    `${finalWorkers === 0 ? '' : `, and ${finalWorkers} with ASR_FINAL_MODEL`}; ` +
    `at most ${settings.MAX_CALLS} calls (MAX_CALLS)` +
    (settings.isMaxCallsMeasured ? ', more where the servers of ASR_URL have room' : '');
  if (threads <= cores) return { name: 'cores', status: 'ok', detail };
  return {
    name: 'cores',
    status: 'warn',
    detail: `${detail} are too many: lower ENGINE_WORKERS`,
  };
}

/** Whether the engine processes of the settings fit in memory; nothing where that needs no check. */
export function checkMemory(settings: Settings, cores: number = coresAvailable()): Finding[] {
  const wanted = { workers: workersOf(settings, cores), finalWorkers: finalWorkersOf(settings, cores) };
  const memory = engineMemory(settings, wanted);
  if (memory === null) return [];
  const { neededBytes, budgetBytes, problem } = memory;
  const [needed, budget] = [neededBytes, budgetBytes].map((bytes) => Math.round(bytes / 2 ** 20));
  const detail = problem ?? `the engine processes need about ${needed} MB of ${budget} MB (ENGINE_MEMORY_BYTES)`;
  return [{ name: 'memory', status: problem === null ? 'ok' : 'fail', detail }];
}

const TRUNK_PORTS = ['AUDIOSOCKET_PORT', 'SIP_PORT', 'SIP_TLS_PORT'] as const;
type PortSetting = 'PORT' | (typeof TRUNK_PORTS)[number];

/** Whether the gateway could listen now on its HTTP port, and on those of AudioSocket and SIP where they are open. */
export async function checkPorts(settings: Settings): Promise<Finding[]> {
  const further = TRUNK_PORTS.filter((setting) => settings[setting] !== 0);
  return Promise.all((['PORT', ...further] as const).map((setting) => checkPort(settings, setting)));
}

/** Tries a port by listening on it for a moment, over TCP. */
async function checkPort(settings: Settings, setting: PortSetting): Promise<Finding> {
  const { HOST, [setting]: port } = settings;
  const server = createServer();
  try {
    server.listen({ host: HOST, port });
    await once(server, 'listening');
    return {
      name: PORT_NAMES[setting],
      status: 'ok',
      detail: port === 0 ? `any free port of ${HOST}` : `${port} of ${HOST} is free`,
    };
  } catch (error) {
    return {
      name: PORT_NAMES[setting],
      ...explainPort((error as NodeJS.ErrnoException).code ?? String(error), HOST, port, setting),
    };
  } finally {
    server.close();
  }
}

const PORT_NAMES: Readonly<Record<PortSetting, string>> = {
  PORT: 'port',
  AUDIOSOCKET_PORT: 'audiosocket',
  SIP_PORT: 'sip',
  SIP_TLS_PORT: 'sip tls',
};

function explainPort(code: string, host: string, port: number, setting: PortSetting): Omit<Finding, 'name'> {
  if (code === 'EADDRINUSE')
    return {
      status: 'warn',
      detail: `${port} of ${host} is in use. If Trunkline is not running already, set another ${setting}`,
    };
  const remedy = code === 'EACCES' ? `set ${setting} to 1024 or more` : 'set HOST to an address of this machine';
  return { status: 'fail', detail: `cannot listen on ${port} of ${host} (${code}): ${remedy}` };
}

/**
 * Whether ffmpeg is installed, for the formats that Trunkline does not read or write itself, and ffprobe, without which
 * ffmpeg is not used for reading.
 */
export async function checkFfmpeg(): Promise<Finding> {
  const [version, probeVersion] = await Promise.all([versionOf('ffmpeg'), versionOf('ffprobe')]);
  if (version === null) {
    return {
      name: 'ffmpeg',
      status: 'ok',
      detail: 'not found; only recordings such as MP4, WebM or AMR and speech as FLAC, Opus or AAC need it',
    };
  }
  if (probeVersion === null) {
    const refused = 'recordings such as MP4, WebM or AMR are refused';
    const detail = `${version}, but no ffprobe: ${refused}. Install the ffprobe of ffmpeg`;
    return { name: 'ffmpeg', status: 'warn', detail };
  }
  return {
    name: 'ffmpeg',
    status: 'ok',
    detail: `${version}, for the formats that Trunkline does not decode or encode itself`,
  };
}

/** Null when the program is not installed. */
async function versionOf(program: 'ffmpeg' | 'ffprobe'): Promise<string | null> {
  try {
    const { stdout } = await run(program, ['-version'], { timeout: PROGRAM_TIMEOUT_MS });
    return /version (\S+)/.exec(stdout)?.[1] ?? 'found';
  } catch {
    return null;
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
