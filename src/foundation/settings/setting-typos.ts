/**
 * Finds environment variables whose names look like mistyped settings. Other programs share the environment: APP_PORT,
 * SMTP_PORT, API_USER and HOSTNAME are theirs, although they resemble SIP_PORT, ARI_USER and HOST. So the edit distance
 * alone does not decide. Typical typos are swapped or doubled letters, a missing `_`, lower case, one for several (a
 * gateway with API_KEY in place of API_KEYS is open) and our name in front. A wrong, missing or extra letter counts as
 * a typo only in a long word of a name.
 */
import { valueOfGone } from './constants.ts';
import { OLD_SETTINGS } from './old-settings.ts';
import { SETTINGS, type SettingName } from './settings.ts';

/** Shorter names have too many similar words: PORT and PORTS, HOST and POST. */
const NAME_MIN_CHARS = 7;

/** The shortest words in which one letter, and two letters, may be wrong: APP, API and ARI are three words. */
const ONE_TYPO_CHARS = 4;
const TWO_TYPOS_CHARS = 5;

/** The fewest letters of a name that another program would not have in the plural: HOSTS and PORTS are others'. */
const PLURAL_MIN_LETTERS = 6;

/** The most typos in a whole name. */
const TYPOS_MAX = 2;

/** Other programs have these, however near they are: training jobs find their model in MODEL_DIR. */
const FOREIGN: readonly string[] = ['MODEL_DIR'];

/** Other programs call their variables after themselves; we do not. */
const OUR_NAME = 'TRUNKLINE_';
/** Kubernetes tells a Service called `trunkline` to all pods, as TRUNKLINE_PORT too. */
const SERVICE_LINK = /^(?:tcp|udp|sctp):\/\//;

/** A variable, and the setting that was probably meant. */
export interface Typo {
  readonly name: string;
  readonly meant: SettingName;
}

/**
 * The typos among the variables of `environment`. On Windows case does not matter: there `Port` sets PORT and is not a
 * typo.
 */
export function findTypos(environment: Readonly<Record<string, string | undefined>>): Typo[] {
  const settings = Object.keys(SETTINGS) as SettingName[];
  return Object.entries(environment).flatMap(([name, value = '']) => {
    if (name in SETTINGS || name in OLD_SETTINGS || valueOfGone(name) !== null || FOREIGN.includes(name)) return [];
    const isOurs = name.toUpperCase().startsWith(OUR_NAME) && !SERVICE_LINK.test(value);
    const bare = isOurs ? name.slice(OUR_NAME.length) : name;
    const meant = settings.find((setting) => isTypoOf(bare, setting, { isOurs, isSet: setting in environment }));
    return meant === undefined ? [] : [{ name, meant }];
  });
}

/** `isOurs` = our name stood before `name`; `isSet` = the environment has the setting as well. */
function isTypoOf(name: string, setting: SettingName, { isOurs, isSet }: { isOurs: boolean; isSet: boolean }): boolean {
  if (isOurs && name === setting) return true;
  if (lettersOf(name) === lettersOf(setting)) return isOurs || !isSet;
  if (isPlural(lettersOf(name), lettersOf(setting))) return isOurs || !isSet;
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

/** One is the plural of the other: API_KEY, TRUSTED_PROXY. */
function isPlural(name: string, setting: string): boolean {
  if (Math.min(name.length, setting.length) < PLURAL_MIN_LETTERS) return false;
  return singularOf(name) === singularOf(setting);
}

/** Neither need be English: two names are compared that are cut alike. */
function singularOf(letters: string): string {
  return letters.replace(/IES$/, 'Y').replace(/S$/, '');
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
