/** Whether the voices of DEFAULT_VOICE and VOICE_MAP are there: that is known when the first engine is ready. */
import type { VoiceInfo } from '../engine/contract.ts';
import type { Log } from './foundation/log/log.ts';
import type { Settings } from './foundation/settings/settings.ts';
import { checkVoiceMap, readVoiceMap } from './speech/voice-map.ts';
import { resolveVoice } from './speech/voices.ts';

interface VoiceCheckOptions {
  readonly log: Pick<Log, 'error'>;
  /** The voices there are, once an engine is ready. */
  readonly voices: () => readonly VoiceInfo[];
  /** Told at the start of a gateway that could say nothing, or would speak with another voice than it was told. */
  readonly onRefused: (message: string) => void;
}

/**
 * A function to be called when an engine is ready, which looks once. Where the models are loaded at the start a voice
 * that is not there ends the start. With ENGINE_PRELOAD=false an engine is ready when a call is there already: that one
 * is captioned, and the log says why nothing is said in it.
 */
export function voiceCheck(settings: Settings, { log, voices, onRefused }: VoiceCheckOptions): () => void {
  let isChecked = false;
  return () => {
    if (isChecked) return;
    isChecked = true;
    const problems = [defaultVoiceProblem(settings, voices()), voiceMapProblem(settings, voices())].filter(
      (each) => each !== null,
    );
    for (const problem of problems) {
      if (settings.ENGINE_PRELOAD) onRefused(problem);
      else
        log.error(
          `${problem}. Calls are captioned, but what needs this voice is not said until it is set and the gateway started again`,
        );
    }
  };
}

/** What is wrong with the setting, in the words of all settings; null = nothing. */
function defaultVoiceProblem({ DEFAULT_VOICE: name }: Settings, voices: readonly VoiceInfo[]): string | null {
  try {
    resolveVoice(undefined, voices, name);
    return null;
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).replace(/^voice: /, '');
    const hint =
      name.startsWith('espeak:') && !voices.some((voice) => voice.name.startsWith('espeak:'))
        ? '; espeak-ng is not installed here'
        : '';
    return `DEFAULT_VOICE: ${reason}${hint}`;
  }
}

/**
 * What is wrong with the map: calls that name what a voice of it stands for would be spoken by another. Null = nothing.
 */
function voiceMapProblem({ VOICE_MAP }: Settings, voices: readonly VoiceInfo[]): string | null {
  try {
    checkVoiceMap(readVoiceMap(VOICE_MAP), voices);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
