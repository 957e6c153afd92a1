/** Which models there are: name → loader. A model's file is imported only when it is asked for, so the pretend ones need no onnxruntime. */
import type { EngineSettings } from '../contract.ts';
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
 * @throws Refusal when they cannot work on this machine.
 */
export async function loadModels(settings: EngineSettings): Promise<Models> {
  const [vad, tts] = await Promise.all([loadVad(settings), loadTts(settings)]);
  if (settings.asrModel === 'tone') {
    const { toneAsr } = await import('./tone.ts');
    return { asr: toneAsr, vad, tts, warning: null };
  }
  return { vad, tts, ...(await loadOnProvider(settings)) };
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

async function loadOnProvider({ executionProvider, cudaDevice, threads }: EngineSettings): Promise<Pick<Models, 'asr' | 'warning'>> {
  const { loadMoonshine } = await import('./moonshine.ts');
  const { requireCuda } = await import('../onnx.ts');
  const onCpu = () => loadMoonshine({ threads, device: { provider: 'cpu' } });
  if (executionProvider === 'cpu') return { asr: await onCpu(), warning: null };
  try {
    requireCuda();
    return { asr: await loadMoonshine({ threads, device: { provider: 'cuda', deviceId: cudaDevice } }), warning: null };
  } catch (error) {
    const isFallback = executionProvider === 'auto' && error instanceof Refusal && error.code === 'cuda_missing';
    if (!isFallback) throw error;
    return { asr: await onCpu(), warning: `running on the CPU: ${error.message}` };
  }
}
