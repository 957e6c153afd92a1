/** Checks the voices of DEFAULT_VOICE and VOICE_MAP, which is possible once an engine is ready. */
import type { VoiceInfo } from '../../engine/contract.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { isTooSlowForCalls } from './slow-voices.ts';
import { findVoiceMapProblem, readVoiceMap } from './voice-map.ts';
import { findVoice, resolveVoice, type VoiceMap } from './voices.ts';

type VoiceSettings = Pick<Settings, 'DEFAULT_VOICE' | 'VOICE_MAP' | 'ENGINE_PRELOAD'>;

interface VoiceCheckOptions {
  readonly log: Pick<Log, 'error' | 'warn'>;
  /** The voices of the engines, once one is ready. */
  readonly voices: () => readonly VoiceInfo[];
  /** Called at the start of a gateway that could not speak, or would speak with another voice than set. */
  readonly onRefused: (message: string) => void;
}

/**
 * Returns a function to be called when an engine is ready; it checks once, and warns of a slow DEFAULT_VOICE. A missing
 * voice ends the start of a gateway that loads its models then. With ENGINE_PRELOAD=false a call has caused the load:
 * the call goes on with captions, and the log says why nothing is spoken.
 */
export function voiceCheck(settings: VoiceSettings, { log, voices, onRefused }: VoiceCheckOptions): () => void {
  let isChecked = false;
  return () => {
    if (isChecked) return;
    isChecked = true;
    const problems = [
      findDefaultVoiceProblem(settings.DEFAULT_VOICE, voices()),
      findVoiceMapProblem(readVoiceMap(settings.VOICE_MAP), voices()),
    ];
    const slowness = findSlowness(settings.DEFAULT_VOICE, voices(), readVoiceMap(settings.VOICE_MAP));
    if (slowness !== null) log.warn(slowness);
    for (const problem of problems) {
      if (problem === null) continue;
      if (settings.ENGINE_PRELOAD) onRefused(problem);
      else
        log.error(
          `${problem}. Calls are captioned, but texts that need this voice are not spoken until it is set and the ` +
            'server is restarted',
        );
    }
  };
}

/** What callers would miss with a DEFAULT_VOICE that is too slow for calls; null = nothing. */
function findSlowness(name: string, voices: readonly VoiceInfo[], map: VoiceMap): string | null {
  const voice = findVoice(name, voices, map);
  if (voice === undefined || !isTooSlowForCalls(voice)) return null;
  return (
    `DEFAULT_VOICE: ${voice.name} takes ${voice.cost} s of a core for each second of speech here, so calls hear only ` +
    'what was made before: name each text in PROMPTS_FILE, or set a faster voice (GET /v1/audio/voices, `live`)'
  );
}

/** What is wrong with DEFAULT_VOICE; null = nothing. */
function findDefaultVoiceProblem(name: string, voices: readonly VoiceInfo[]): string | null {
  try {
    resolveVoice(undefined, voices, name);
    return null;
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).replace(/^voice: /, '');
    const hint =
      name.startsWith('espeak:') && !voices.some((voice) => voice.name.startsWith('espeak:'))
        ? '; espeak-ng is not installed'
        : '';
    return `DEFAULT_VOICE: ${reason}${hint}`;
  }
}
