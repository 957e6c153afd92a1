/** Loads the models that the settings name. */
import type { EngineSettings, ReadyMessage } from '../contract.ts';
import type { Device } from '../onnx.ts';
import { openFolder, Refusal } from '../refusal.ts';
import { type FoundRecogniser, findRecogniser } from './find-recogniser.ts';
import { readInstalled } from './installed.ts';
import { readLexicon, respelling } from './lexicon.ts';
import type { Asr, Tts, TurnDetector, Vad } from './model.ts';
import {
  findModel,
  type LoadContext,
  type ModelRow,
  type ModelTable,
  modelsOf,
  type RecogniserRow,
  type SynthesizerRow,
  type TurnDetectorRow,
  type VoiceDetectorRow,
} from './model-table.ts';
import { requireFiles } from './package-files.ts';

/** The models of one engine process, and what is to be known of them. */
export interface Models extends Pick<ReadyMessage, 'languages' | 'abilities' | 'costs' | 'asrLicence'>, OtherModels {
  readonly asr: Asr;
  /** Absolute path of the recogniser's folder; null = it is in the npm packages. */
  readonly asrFolder: string | null;
  /** E.g. that `auto` fell back to the CPU and why; null = nothing. */
  readonly warning: string | null;
}

/** All but the recogniser. */
interface OtherModels {
  /** These two: null where only the recogniser is wanted. */
  readonly vad: Vad | null;
  readonly tts: Tts | null;
  /** Null where none is installed or wanted. */
  readonly turn: TurnDetector | null;
}

/** The rows of all but the recogniser. */
interface OtherRows {
  readonly detector: VoiceDetectorRow;
  readonly synthesizer: SynthesizerRow;
  readonly turnDetector: TurnDetectorRow | null;
}

const CPU: Device = { provider: 'cpu' };

/**
 * Loads the models that `settings` name.
 * @param progress is told what takes a while, in words for the operator
 * @param stage is told what begins
 * @throws Refusal when they cannot work on this machine.
 */
export async function loadModels(
  table: ModelTable,
  settings: EngineSettings,
  progress: (text: string) => void,
  stage: (name: string) => void = () => undefined,
): Promise<Models> {
  const found = findRecogniser(table, settings.asrModel, {
    modelsDir: settings.modelsDir,
    setting: settingOf(settings),
  });
  const recogniser = found.row;
  const others = settings.role === 'final' ? null : findOthers(table, settings);
  for (const row of [recogniser, others?.detector, others?.synthesizer, others?.turnDetector])
    requireFiles(row?.files ?? []);
  const lexicon = await readLexicon(settings.lexiconFile);
  const context = { settings, device: CPU, lexicon, progress, folder: null };
  // The largest comes first: what loading it leaves free in the heap is enough for the others.
  const { folder } = found;
  stage('the recogniser');
  const loaded = await openFolder(folder, () => loadOnProvider(recogniser, { ...context, folder }));
  const { asr, warning, languages = languagesOf(found), abilities = recogniser.abilities } = loaded;
  const { warning: othersWarning, ...models } = await loadOthers(others, context, stage);
  return {
    asr,
    asrFolder: folder,
    ...models,
    warning: joinWarnings([warning, othersWarning]),
    asrLicence: found.bridge?.licence ?? recogniser.licence,
    languages,
    abilities,
    costs: {
      transcribe: loaded.cost ?? recogniser.cost,
      detect: others?.detector.cost ?? null,
      speak: others?.synthesizer.cost ?? null,
      turn: others?.turnDetector?.cost ?? null,
    },
  };
}

function findOthers(table: ModelTable, settings: EngineSettings): OtherRows {
  return {
    detector: requireRow(table, 'voice detector', settings.vadModel),
    synthesizer: requireRow(table, 'synthesizer', settings.ttsModel),
    turnDetector: chooseTurnDetector(table, settings),
  };
}

/** @param rows null = none of them is wanted */
async function loadOthers(
  rows: OtherRows | null,
  context: LoadContext,
  stage: (name: string) => void,
): Promise<OtherModels & { readonly warning: string | null }> {
  if (rows === null) return { vad: null, tts: null, turn: null, warning: null };
  stage('the other models');
  const [vad, { tts, warning }, turn] = await Promise.all([
    rows.detector.load(context),
    rows.synthesizer.load(context),
    rows.turnDetector?.load(context) ?? null,
  ]);
  const problems = describeProblems(context.settings.modelsDir);
  return { vad, tts: respelling(tts, context.lexicon), turn, warning: joinWarnings([warning, problems]) };
}

/** What the operator calls {@link EngineSettings.asrModel}. */
function settingOf({ role }: EngineSettings): string {
  return role === 'final' ? 'ASR_FINAL_MODEL' : 'ASR_MODEL';
}

function languagesOf({ row, bridge }: FoundRecogniser): readonly string[] {
  return bridge === null || bridge.languages.length === 0 ? row.languages : bridge.languages;
}

function requireRow<K extends ModelRow['kind']>(
  table: ModelTable,
  kind: K,
  name: string,
): Extract<ModelRow, { kind: K }> {
  const row = findModel(table, kind, name);
  if (row === undefined) throw new Refusal('bad_settings', `there is no ${kind} ${name}`);
  return row;
}

function chooseTurnDetector(table: ModelTable, settings: EngineSettings): TurnDetectorRow | null {
  if (settings.turnModel === 'off') return null;
  if (settings.turnModel !== 'auto') return requireRow(table, 'turn detector', settings.turnModel);
  return modelsOf(table, 'turn detector').find((row) => row.isInstalled(settings)) ?? null;
}

async function loadOnProvider(row: RecogniserRow, context: LoadContext): ReturnType<RecogniserRow['load']> {
  const { executionProvider, cudaDevice } = context.settings;
  if (executionProvider === 'cpu' || !row.runsOn.includes('cuda')) return row.load(context);
  const { requireCuda } = await import('../onnx.ts');
  try {
    requireCuda();
    return await row.load({ ...context, device: { provider: 'cuda', deviceId: cudaDevice } });
  } catch (error) {
    const isFallback = executionProvider === 'auto' && error instanceof Refusal && error.code === 'cuda_missing';
    if (!isFallback) throw error;
    const loaded = await row.load(context);
    const fallback = `running on the CPU: ${error.message}`;
    return { ...loaded, warning: joinWarnings([fallback, loaded.warning]) };
  }
}

/** What lies in the folder of installed models and cannot be used; null = nothing. */
function describeProblems(modelsDir: string): string | null {
  const { problems } = readInstalled(modelsDir);
  return problems.length === 0 ? null : `installed models are not used: ${problems.join('; ')}`;
}

function joinWarnings(warnings: readonly (string | null)[]): string | null {
  const given = warnings.filter((warning) => warning !== null);
  return given.length === 0 ? null : given.join('; ');
}
