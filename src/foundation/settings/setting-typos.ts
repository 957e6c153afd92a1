/**
 * Finds environment variables whose names look like mistyped settings. Other programs share the environment: APP_PORT,
 * SMTP_PORT, API_USER and HOSTNAME are theirs, although they resemble SIP_PORT, ARI_USER and HOST. So the edit distance
 * alone does not decide. Typical typos are swapped or doubled letters, a missing `_` and lower case. A wrong, missing
 * or extra letter counts as a typo only in a long word of a name.
 */
import { SETTINGS, type SettingName } from './settings.ts';

/** Shorter names have too many similar words: PORT and PORTS, HOST and POST. */
const NAME_MIN_CHARS = 8;

/** The shortest words in which one letter, and two letters, may be wrong: APP, API and ARI are three words. */
const ONE_TYPO_CHARS = 4;
const TWO_TYPOS_CHARS = 8;

/** The most typos in a whole name. */
const TYPOS_MAX = 2;

/** Other programs have these, however near they are: training jobs find their model in MODEL_DIR. */
const FOREIGN: readonly string[] = ['MODEL_DIR'];

/** A variable, and the setting that was probably meant. */
export interface Typo {
  readonly name: string;
  readonly meant: SettingName;
}

/**
 * The typos among the variables `names`. `isSet` = whether the environment has a value for a setting. On Windows case
 * does not matter: there `Port` sets PORT and is not a typo.
 */
export function findTypos(names: readonly string[], isSet: (setting: SettingName) => boolean): Typo[] {
  const settings = Object.keys(SETTINGS) as SettingName[];
  return names.flatMap((name) => {
    if (name in SETTINGS || FOREIGN.includes(name)) return [];
    const meant = settings.find((setting) => isTypoOf(name, setting, isSet));
    return meant === undefined ? [] : [{ name, meant }];
  });
}

function isTypoOf(name: string, setting: SettingName, isSet: (setting: SettingName) => boolean): boolean {
  if (lettersOf(name) === lettersOf(setting)) return !isSet(setting);
  return (
    isSwapped(name, setting) ||
    isDoubled(name, setting) ||
    (name.length >= NAME_MIN_CHARS && isNearByWords(name, setting))
  );
}

/** Ignores case and separators: `apiKeys` and `API-KEYS` are API_KEYS. */
function lettersOf(name: string): string {
  return name.replace(/[_.-]/g, '').toUpperCase();
}

/** Two adjacent letters are swapped: PROT. */
function isSwapped(name: string, setting: string): boolean {
  if (name.length !== setting.length) return false;
  const at = firstDifference(name, setting);
  return name[at] === setting[at + 1] && name[at + 1] === setting[at] && name.slice(at + 2) === setting.slice(at + 2);
}

/** One letter is doubled: PORTT. */
function isDoubled(name: string, setting: string): boolean {
  if (name.length !== setting.length + 1) return false;
  const at = firstDifference(name, setting);
  return name[at] === name[at - 1] && name.slice(at + 1) === setting.slice(at);
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

function isNearByWords(name: string, setting: string): boolean {
  const [words, meant] = [name.split('_'), setting.split('_')];
  if (words.length !== meant.length) return false;
  let typos = 0;
  for (const [index, word] of meant.entries()) {
    const wrong = editDistance(words[index] ?? '', word);
    if (wrong > typosAllowed(word)) return false;
    typos += wrong;
  }
  return typos <= TYPOS_MAX;
}

function typosAllowed(word: string): number {
  if (word.length >= TWO_TYPOS_CHARS) return 2;
  return word.length >= ONE_TYPO_CHARS ? 1 : 0;
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
