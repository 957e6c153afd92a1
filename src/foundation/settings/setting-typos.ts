/**
 * Which environment variables are settings with a slip of the finger in their name. The environment is everybody's:
 * APP_PORT, SMTP_PORT, API_USER or HOSTNAME are other programs' own, however near they come to SIP_PORT, ARI_USER and
 * HOST. So it is not the number of letters that counts alone, but what slips are like: letters that changed places or
 * came twice, a forgotten `_`, small letters; and a wrong, missing or superfluous letter only inside a long word of a
 * name whose other words are right.
 */
import { SETTINGS, type SettingName } from './settings.ts';

/** Shorter names than this differ by a letter from too many others: PORT from PORTS, HOST from POST. */
const NAME_MIN_CHARS = 8;

/** Words of a name in which one letter, and in which two, may be wrong. APP, API and ARI are words of their own. */
const ONE_SLIP_CHARS = 4;
const TWO_SLIPS_CHARS = 8;

/** Slips in all words of a name together. */
const SLIPS_MAX = 2;

/** A variable, and the setting that its name is taken to mean. */
export interface Typo {
  readonly name: string;
  readonly meant: SettingName;
}

/**
 * The typos among the variables `names`. `isSet` = whether the environment has a value for a setting: on Windows, where
 * case does not matter, it has one for `Port` as well, which then is no typo.
 */
export function findTypos(names: readonly string[], isSet: (setting: SettingName) => boolean): Typo[] {
  const settings = Object.keys(SETTINGS) as SettingName[];
  return names.flatMap((name) => {
    if (name in SETTINGS) return [];
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

/** Without case and what parts the words: `apiKeys` and `API-KEYS` are API_KEYS. */
function lettersOf(name: string): string {
  return name.replace(/[_.-]/g, '').toUpperCase();
}

/** Two neighbours have changed places: PROT. */
function isSwapped(name: string, setting: string): boolean {
  if (name.length !== setting.length) return false;
  const at = firstDifference(name, setting);
  return name[at] === setting[at + 1] && name[at + 1] === setting[at] && name.slice(at + 2) === setting.slice(at + 2);
}

/** One letter came twice: PORTT. */
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
  let slips = 0;
  for (const [index, word] of meant.entries()) {
    const wrong = editDistance(words[index] ?? '', word);
    if (wrong > slipsAllowed(word)) return false;
    slips += wrong;
  }
  return slips <= SLIPS_MAX;
}

function slipsAllowed(word: string): number {
  if (word.length >= TWO_SLIPS_CHARS) return 2;
  return word.length >= ONE_SLIP_CHARS ? 1 : 0;
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
