/** All voices of this machine as those of one synthesizer: flite's, espeak-ng's, and those in the operator's folder. */
import type { EngineSettings } from '../contract.ts';
import { findEspeak } from './espeak.ts';
import { loadFlite } from './flite.ts';
import { openHibari } from './hibari/hibari.ts';
import { openPhonemizer } from './hibari/phonemes/phonemizer.ts';
import { findInstalled } from './installed.ts';
import { joinVoices } from './joined-voices.ts';
import type { Lexicon } from './lexicon.ts';
import type { Tts } from './model.ts';

/** A synthesizer, and what an operator should know of it; null = nothing. */
export interface LoadedVoices {
  readonly tts: Tts;
  readonly warning: string | null;
}

/**
 * Loads every synthesizer there is. The best voice for calls comes first; an installed model that cannot be loaded is
 * left out and told.
 * @throws Refusal when flite's package is missing.
 */
export async function loadInstalledVoices({
  settings,
  lexicon,
}: {
  settings: Pick<EngineSettings, 'modelsDir'>;
  lexicon: Lexicon;
}): Promise<LoadedVoices> {
  const warnings: string[] = [];
  const attempt = async (name: string, open: () => Promise<Tts | null>): Promise<Tts | null> => {
    try {
      return await open();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      warnings.push(`the voices of ${name} are left out: ${reason}`);
      return null;
    }
  };
  const [hibari] = findInstalled(settings.modelsDir, 'hibari');
  const found = await Promise.all([
    hibari === undefined
      ? null
      : attempt(hibari.name, () =>
          openHibari(hibari, (accent) =>
            openPhonemizer({ folder: hibari.folder, accent, overrides: lexicon.phonemes(accent) }),
          ),
        ),
    loadFlite(),
    findEspeak(),
  ]);
  const synthesizers = found.filter((tts) => tts !== null);
  return { tts: joinVoices(synthesizers), warning: warnings.length === 0 ? null : warnings.join('; ') };
}
