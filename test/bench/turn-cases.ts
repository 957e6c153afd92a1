/**
 * Turns whose end is known, and pauses in the middle of turns: human prompts whole, and the same cut where a word
 * begins, each followed by the noise of a quiet line. Word times are our own recogniser's.
 */
import type { SpokenWord } from '../../engine/contract.ts';
import type { ManagedEngine } from '../../src/engine-client/managed-engine.ts';
import { grammarHold } from '../../src/transcription/open-ended.ts';
import { gaussian, LINE_RATE_HZ, pinkNoise, uniform } from '../helpers/signals.ts';
import { concatenate, loadPrompts, type Prompt } from './prompts.ts';
import { normaliseWords } from './wer/normalise.ts';
import { findWords, toLineRate } from './whole-recordings.ts';

/** Longer ones are more than one sentence. */
const PROMPT_MAX_SECONDS = 20;
/** A cut leaves at least so many words before and behind it. */
const WORDS_AROUND = 2;
const CUTS_PER_PROMPT = 2;
/** Where a word is said to begin, the quietest place within this is cut at. */
const SEARCH_MS = 60;
const QUIET_MS = 10;
/** Silence behind every case: more than any rule waits. */
const REST_MS = 1400;
/** Noise of a quiet line, 66 dB below full scale. */
const LINE_RMS = 0.0005;
const QUIET_LINE = pinkNoise(2, LINE_RMS, gaussian(4));

/** Telephone numbers as they are dictated; the digits that are expected of the caller are as many. */
export const NUMBER_DIGITS = 10;
const NUMBERS = [
  ['four one five', 'five five five', 'zero one two three'],
  ['two one two', 'five five five', 'nine eight seven six'],
  ['eight hundred', 'five five five', 'one two one two'],
  ['six one nine', 'five five five', 'four four zero seven'],
  ['three zero five', 'five five five', 'eight one six two'],
];
const NUMBER_VOICES = ['rms', 'slt', 'awb', 'hibari:heart'];
const GROUP_PAUSE_MS = 250;

/** Prompts that are no whole sentence: a number or a name follows in the menu that they are made for. */
const FRAGMENTS = new Set(
  (
    'conf-enteringno conf-otherinparty conf-thereare followme/call-from priv-callpending queue-holdtime ' +
    'queue-thereare vm-from-extension vm-from-phonenumber vm-num-i-have vm-onefor vm-savemessage vm-theperson ' +
    'vm-isonphone queue-quantity1 is-set-to privacy-to-blacklist-last-caller vm-onefor-full'
  ).split(' '),
);

/** What is behind the last word of a case: the end of the turn, or the middle of it. */
export type TurnKind = 'complete' | 'cut' | 'cut after an open word' | 'fragment' | 'group of digits' | 'whole number';

/** One case: 8 kHz, silence at its end. */
export interface TurnCase {
  readonly kind: TurnKind;
  readonly samples: Int16Array;
  /** Sample at which the silence begins. */
  readonly speechTo: number;
  /** How the prompt goes on; empty where it does not. */
  readonly rest: Int16Array;
}

/** Every `every`-th prompt as cases. `engine` says when words begin. */
export async function loadTurnCases(engine: ManagedEngine, every: number): Promise<TurnCase[]> {
  const random = uniform(3);
  const cases: TurnCase[] = [];
  const add = (kind: TurnKind, samples: Int16Array, to = samples.length) =>
    cases.push({
      kind,
      samples: concatenate([samples.subarray(0, to), quietLine(REST_MS)]),
      speechTo: to,
      rest: samples.subarray(to),
    });
  for (const prompt of loadPrompts().filter((_, index) => index % every === 0)) {
    if (prompt.samples.length > PROMPT_MAX_SECONDS * LINE_RATE_HZ) continue;
    if (FRAGMENTS.has(prompt.id)) add('fragment', prompt.samples);
    else {
      add('complete', prompt.samples);
      for (const cut of await findCuts(engine, prompt, random)) add(cut.kind, prompt.samples, cut.at);
    }
  }
  return cases;
}

/** Telephone numbers that our own voices dictate in groups: silence behind the first group, and behind the last. */
export async function speakNumbers(engine: ManagedEngine): Promise<TurnCase[]> {
  const cases: TurnCase[] = [];
  for (const voice of NUMBER_VOICES.filter((name) => engine.voices.some((known) => known.name === name))) {
    for (const groups of NUMBERS) {
      const spoken: Int16Array[] = [];
      for (const [index, group] of groups.entries()) {
        const text = `${group}${index === groups.length - 1 ? '.' : ','}`;
        const sound = await engine.speak({ text, voice, speed: 1, urgency: 'batch', dueInMs: 600_000 });
        spoken.push(toLineRate(sound.samples, sound.rateHz));
      }
      cases.push(dictated('group of digits', spoken.slice(0, 1)), dictated('whole number', spoken));
    }
  }
  return cases;
}

function dictated(kind: TurnKind, groups: readonly Int16Array[]): TurnCase {
  const speech = concatenate(groups.flatMap((group) => [quietLine(GROUP_PAUSE_MS), group]));
  return {
    kind,
    samples: concatenate([speech, quietLine(REST_MS)]),
    speechTo: speech.length,
    rest: new Int16Array(0),
  };
}

function quietLine(durationMs: number): Int16Array {
  return QUIET_LINE.subarray(0, (durationMs * LINE_RATE_HZ) / 1000);
}

interface Cut {
  readonly kind: TurnKind;
  readonly at: number;
}

/** Only where every word was understood is it certain which of them a cut is behind. */
async function findCuts(engine: ManagedEngine, prompt: Prompt, random: () => number): Promise<Cut[]> {
  const words = await findWords(engine, prompt.samples);
  const said = words.map(({ text }) => text).join(' ');
  if (normaliseWords(said).join(' ') !== prompt.words.join(' ')) return [];
  const places = words
    .map((word, index) => ({ word, before: words[index - 1], index }))
    .filter(({ index }) => index >= WORDS_AROUND && index <= words.length - WORDS_AROUND)
    // Behind a full stop or a comma the phrase is whole.
    .filter(({ before }) => before !== undefined && /[\p{L}\p{N}]$/u.test(before.text));
  const cuts: Cut[] = [];
  while (cuts.length < CUTS_PER_PROMPT && places.length > 0) {
    const [place] = places.splice(Math.floor(random() * places.length), 1);
    if (place === undefined) break;
    const isOpen = grammarHold(place.before?.text ?? '', 'en') !== null;
    cuts.push({ kind: isOpen ? 'cut after an open word' : 'cut', at: quietPlace(prompt.samples, place.word) });
  }
  return cuts;
}

/** The quietest 10 ms near the word's start. */
function quietPlace(samples: Int16Array, { startMs }: SpokenWord): number {
  const step = (QUIET_MS * LINE_RATE_HZ) / 1000;
  const around = (SEARCH_MS * LINE_RATE_HZ) / 1000;
  const start = Math.round((startMs * LINE_RATE_HZ) / 1000);
  let best = { at: start, energy: Number.POSITIVE_INFINITY };
  for (let at = Math.max(start - around, step); at <= Math.min(start + around / 2, samples.length); at += step / 2) {
    const energy = samples.subarray(at - step, at).reduce((sum, sample) => sum + sample * sample, 0);
    if (energy < best.energy) best = { at, energy };
  }
  return best.at;
}
