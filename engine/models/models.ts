/**
 * Which models there are: name → loader. A model's file is imported only when it is asked for, so the pretend ones need
 * no onnxruntime.
 */
import type { EngineSettings } from '../contract.ts';
import type { Device } from '../onnx.ts';
import { Refusal } from '../refusal.ts';
import type { Asr, Tts, Vad } from './model.ts';

/** The models of one engine process, and what an operator should know of how they came to be. */
export interface Models {
  readonly asr: Asr;
  readonly vad: Vad;
  readonly tts: Tts;
  /** E.g. that `auto` fell back to the CPU and why; null = nothing. */
  readonly warning: string | null;
}

/**
 * Loads the models that `settings` name.
 * @param progress is told what takes a while.
 * @throws Refusal when they cannot work on this machine.
 */
export async function loadModels(settings: EngineSettings, progress: (text: string) => void): Promise<Models> {
  const [vad, tts] = await Promise.all([loadVad(settings), loadTts(settings)]);
  if (settings.asrModel === 'tone') {
    const { toneAsr } = await import('./tone.ts');
    return { asr: toneAsr, vad, tts, warning: null };
  }
  return { vad, tts, ...(await loadOnProvider(settings, progress)) };
}

async function loadVad({ vadModel, threads }: EngineSettings): Promise<Vad> {
  if (vadModel === 'tone') return (await import('./tone.ts')).toneVad;
  return (await import('./silero.ts')).loadSilero({ threads });
}

async function loadTts({ ttsModel }: EngineSettings): Promise<Tts> {
  if (ttsModel === 'tone') return (await import('./tone-tts.ts')).toneTts;
  const [{ loadFlite }, { findEspeak }, { joinVoices }] = await Promise.all([
    import('./flite.ts'),
    import('./espeak.ts'),
    import('./voices.ts'),
  ]);
  const [flite, espeak] = await Promise.all([loadFlite(), findEspeak()]);
  return espeak === null ? flite : joinVoices([flite, espeak]);
}

async function loadOnProvider(
  settings: EngineSettings,
  progress: (text: string) => void,
): Promise<Pick<Models, 'asr' | 'warning'>> {
  const { loadMoonshine } = await import('./moonshine.ts');
  const { requireCuda } = await import('../onnx.ts');
  const { executionProvider, cudaDevice, threads, modelGraphs, modelCacheDir, decodeRunTokens } = settings;
  const loadOn = (device: Device) =>
    loadMoonshine({
      threads,
      device,
      graphs: modelGraphs,
      cacheDir: modelCacheDir,
      runTokens: decodeRunTokens,
      progress,
    });
  if (executionProvider === 'cpu') return loadOn({ provider: 'cpu' });
  try {
    requireCuda();
    return await loadOn({ provider: 'cuda', deviceId: cudaDevice });
  } catch (error) {
    const isFallback = executionProvider === 'auto' && error instanceof Refusal && error.code === 'cuda_missing';
    if (!isFallback) throw error;
    const { asr, warning } = await loadOn({ provider: 'cpu' });
    const fallback = `running on the CPU: ${error.message}`;
    return { asr, warning: warning === null ? fallback : `${fallback}; ${warning}` };
  }
}
