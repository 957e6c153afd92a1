/** All voices of this machine as those of one synthesizer: flite's, espeak-ng's, and those in the operator's folder. */
import type { EngineSettings } from '../contract.ts';
import { findEspeak } from './espeak.ts';
import { loadFlite } from './flite.ts';
import { openHibari } from './hibari/hibari.ts';
import { openPronunciation } from './hibari/pronunciation.ts';
import { findInstalled } from './installed.ts';
import { joinVoices } from './joined-voices.ts';
import { openKokoro } from './kokoro/kokoro.ts';
import type { Lexicon } from './lexicon.ts';
import type { Tts } from './model.ts';

/** A synthesizer, and what an operator should know of it; null = nothing. */
export interface LoadedVoices {
  readonly tts: Tts;
  readonly warning: string | null;
}

/** What the voices are loaded with. */
export interface VoicesContext {
  readonly settings: Pick<EngineSettings, 'modelsDir' | 'modelCacheDir'>;
  readonly lexicon: Pick<Lexicon, 'phonemes'>;
  readonly progress: (text: string) => void;
}

/**
 * Loads every synthesizer there is. The best voice for calls comes first, those that are too slow for calls last. Where
 * there is a better one, flite waits until it is asked for. An installed model that cannot be loaded is left out and
 * told.
 * @throws Refusal when flite's package is missing.
 */
export async function loadInstalledVoices(context: VoicesContext): Promise<LoadedVoices> {
  const problems: string[] = [];
  const leaveOut = (name: string) => (error: unknown) => {
    problems.push(`the voices of ${name} are left out: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  };
  const installed = openInstalled(context, leaveOut);
  const hibari = await installed.hibari;
  const [flite, espeak, kokoro] = await Promise.all([
    loadFlite({ isSpare: hibari !== null }),
    findEspeak(),
    installed.kokoro,
  ]);
  const synthesizers = [hibari, flite, espeak, kokoro].filter((tts) => tts !== null);
  return { tts: joinVoices(synthesizers), warning: problems.length === 0 ? null : problems.join('; ') };
}

/** Null = not installed, or left out. */
function openInstalled(
  { settings, lexicon, progress }: VoicesContext,
  leaveOut: (name: string) => (error: unknown) => null,
): Record<'hibari' | 'kokoro', Promise<Tts | null>> {
  const [hibari] = findInstalled(settings.modelsDir, 'hibari');
  const [kokoro] = findInstalled(settings.modelsDir, 'kokoro');
  const open = async (): Promise<Tts | null> =>
    hibari === undefined ? null : openHibari(hibari, await openPronunciation(hibari.folder, lexicon));
  const openSlow = async (): Promise<Tts | null> => {
    if (kokoro === undefined) return null;
    if (hibari === undefined) throw new Error('they need the pronunciation of hibari: `trunkline models add hibari`');
    const pronunciation = await openPronunciation(hibari.folder, lexicon);
    return openKokoro(kokoro, { pronunciation, cacheDir: settings.modelCacheDir, progress });
  };
  return {
    hibari: open().catch(leaveOut(hibari?.name ?? '')),
    kokoro: openSlow().catch(leaveOut(kokoro?.name ?? '')),
  };
}
