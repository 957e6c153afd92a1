/** How -s, -ed and -ing are pronounced behind a stem. */
import type { Accent } from '../../phoneme-symbols.ts';

const VOICELESS_BEFORE_S = 'ptkfθ';
const SIBILANTS = 'szʃʒʧʤ';
const VOICELESS_BEFORE_D = 'pkfθʃsʧ';
/** Between these and another vowel Americans tap a t. */
const BEFORE_TAP = 'AIOWYiuæɑəɛɪɹʊʌ';
const TAP = 'ɾ';

/** `kˈæt` → `kˈæts`. */
export function addS(stem: string, accent: Accent): string {
  const last = stem.at(-1) ?? '';
  if (VOICELESS_BEFORE_S.includes(last)) return `${stem}s`;
  return `${stem}${SIBILANTS.includes(last) ? weakI(accent) : ''}z`;
}

/** `wˈɔnt` → `wˈɔntᵻd`. */
export function addEd(stem: string, accent: Accent): string {
  const last = stem.at(-1) ?? '';
  if (VOICELESS_BEFORE_D.includes(last)) return `${stem}t`;
  if (last === 'd') return `${stem}${weakI(accent)}d`;
  if (last !== 't') return `${stem}d`;
  if (accent === 'gb' || stem.length < 2) return `${stem}ɪd`;
  return isTapped(stem) ? `${stem.slice(0, -1)}${TAP}ᵻd` : `${stem}ᵻd`;
}

/** `wˈAt` → `wˈAɾɪŋ`; null where British speakers need the lexicon to know whether an r is heard. */
export function addIng(stem: string, accent: Accent): string | null {
  if (accent === 'gb') return /[əː]$/.test(stem) ? null : `${stem}ɪŋ`;
  return isTapped(stem) ? `${stem.slice(0, -1)}${TAP}ɪŋ` : `${stem}ɪŋ`;
}

function isTapped(stem: string): boolean {
  return stem.length > 1 && stem.endsWith('t') && BEFORE_TAP.includes(stem.at(-2) ?? ' ');
}

function weakI(accent: Accent): string {
  return accent === 'gb' ? 'ɪ' : 'ᵻ';
}
