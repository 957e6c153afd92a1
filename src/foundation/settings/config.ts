/** Reads the settings from the environment and from trunkline.yaml, once. No other file reads `process.env`. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { coresAvailable } from '../machine/cores.ts';
import { type OutboundPurpose, operatorTargets } from '../outbound-targets.ts';
import { hideCredentialsIn } from '../urls.ts';
import { resolveChatEndpoints } from './chat-endpoints.ts';
import { findClusterProblems } from './cluster-problems.ts';
import { CONSTANTS, type Constants, goneIn } from './constants.ts';
import { openSettingsFile, readSettingsFile, type SettingsFile } from './file/open-settings-file.ts';
import { OLD_SETTINGS, oldNamesIn, takeOpened } from './old-settings.ts';
import type { SettingSpec } from './setting-kinds.ts';
import { findTypos } from './setting-typos.ts';
import { SETTINGS, type SettingName, type SettingSources, type Settings } from './settings.ts';
import { findSipProblems } from './sip-problems.ts';

/** Exit code when the settings are wrong (`EX_CONFIG` of sysexits.h): a supervisor need not try again. */
export const EXIT_CONFIG = 78;

/**
 * The settings cannot be used. `problems` has one line for each, naming the variable, what came and what is allowed.
 */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** What a setting that names a folder says where there is to be none. */
export const NO_FOLDER = 'none';

/** Live calls for each core if MAX_CALLS is 0. */
const CALLS_PER_CORE = 20;

/** Of CONNECTIONS_MAX so many have one reader of captions. */
const CONNECTIONS_PER_READER = 5;

/** For whom the settings are read. */
export interface ReadOptions {
  /** False: a command that opens none of the ports accepts settings that would open one to strangers. */
  readonly opensPorts?: boolean;
  /** `unknown`: the caller looks later whether there are users ({@link exposureWithoutUsers}). */
  readonly users?: 'none' | 'unknown';
  /** Where to look for what the environment does not set; null or left out = nowhere. */
  readonly file?: SettingsFile | null;
  /** Other values of constants, for tests. */
  readonly constants?: Partial<Constants>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Nobody can guess a random key of this length. */
const KEY_MIN_CHARS = 16;

/** Where every user of the machine finds the file. */
const MACHINE_FOLDER = '/etc/trunkline';

/**
 * The settings of this process: those of its environment, and for the others those of trunkline.yaml.
 * @throws ConfigError as {@link readSettings}, also for what is wrong with the file
 */
export function loadSettings(options: Omit<ReadOptions, 'file'> = {}): Settings {
  return readSettings(process.env, { ...options, file: openFile() });
}

/** What a setting was set to, as text. */
interface GivenSetting {
  readonly text: string;
  /** By a variable of the environment; else by the file. */
  readonly isVariable: boolean;
}

/** What the environment and trunkline.yaml set, whether or not it can be used. It has secrets. */
export function givenSettings(): ReadonlyMap<SettingName, GivenSetting> {
  const file = openFile();
  const given = new Map<SettingName, GivenSetting>();
  for (const name of Object.keys(SETTINGS) as SettingName[]) {
    const variable = process.env[name]?.trim() ?? '';
    const text = variable || file?.values.get(name)?.text || '';
    if (text !== '') given.set(name, { text, isVariable: variable !== '' });
  }
  return given;
}

function openFile(): SettingsFile | null {
  const folders = [join(configDir(process.env), 'trunkline'), MACHINE_FOLDER];
  return openSettingsFile(process.env, folders);
}

/**
 * As {@link loadSettings}, with the file at `path` and no other.
 * @throws ConfigError as {@link loadSettings}
 */
export function loadSettingsWith(path: string, options: Omit<ReadOptions, 'file'> = {}): Settings {
  return readSettings(process.env, { ...options, file: readSettingsFile(path, process.env) });
}

/**
 * The settings in `environment` (by default that of the process) and, where it sets nothing, in `file`, with defaults
 * filled in, frozen.
 * @throws ConfigError that names every value that is not allowed, every likely typo and every contradiction.
 */
export function readSettings(
  environment: Environment = process.env,
  { opensPorts = true, users = 'none', file = null, constants = {} }: ReadOptions = {},
): Settings {
  const problems = [...findUnknown(environment), ...(file?.problems ?? [])];
  const values: Record<string, unknown> = { ...CONSTANTS, ...constants };
  for (const [name, spec] of Object.entries<SettingSpec<unknown>>({ ...SETTINGS, ...OLD_SETTINGS })) {
    const given = environment[name] || file?.values.get(name as SettingName)?.text || '';
    const parsed = spec.schema.safeParse(given === '' ? spec.defaultText : given.trim());
    if (parsed.success) values[name] = parsed.data;
    else {
      const got = spec.secret === true ? 'a value that is not allowed' : JSON.stringify(hideCredentialsIn(given));
      problems.push(`${name}: got ${got}, expected ${parsed.error.issues[0]?.message ?? spec.unit}`);
    }
  }
  if (problems.length === 0) {
    problems.push(
      ...(opensPorts ? findExposures(values as Settings, users) : []),
      ...findContradictions(values as Settings),
      ...findClusterProblems(values as Settings),
      ...resolveChatEndpoints(values),
    );
  }
  if (problems.length > 0) throw new ConfigError(problems);
  resolveFolders(values, environment);
  values['isMaxCallsMeasured'] = values['MAX_CALLS'] === 0 && (values as Settings).ASR_URL.length > 0;
  values['MAX_CALLS'] ||= maxCallsOf(coresAvailable());
  values['LISTENERS_MAX'] ||= values['MAX_CALLS'];
  values['FEED_READERS_MAX'] ||= Math.ceil((values as Settings).CONNECTIONS_MAX / CONNECTIONS_PER_READER);
  values['OUTBOUND_ALLOW'] = [...(values as Settings).OUTBOUND_ALLOW, ...takeOpened(values)];
  const { ENDPOINT_MS, ENDPOINT_CAPTIONS_MS, EAGER_MS } = values as Settings;
  values['EAGER_MS'] = Math.min(EAGER_MS, ENDPOINT_MS, ENDPOINT_CAPTIONS_MS);
  values['sources'] = sourcesOf(environment, file);
  values['notices'] = [...oldNamesIn(environment), ...goneIn(environment), ...(file?.notices ?? [])];
  return Object.freeze(values) as Settings;
}

function sourcesOf(environment: Environment, file: SettingsFile | null): SettingSources {
  const fromFile = Object.fromEntries([...(file?.values ?? [])].map(([name, { place }]) => [name, place]));
  const fromEnvironment = (Object.keys(SETTINGS) as SettingName[]).filter((name) => (environment[name] ?? '') !== '');
  return { filePath: file?.path ?? null, fromFile, fromEnvironment };
}

/** Writes out the folders of the user, and MODELS_DIR beside the records. */
function resolveFolders(values: Record<string, unknown>, environment: Environment): void {
  const { DATA_DIR, MODEL_CACHE_DIR, MODELS_DIR } = values as Settings;
  const stateFolder = join(stateDir(environment), 'trunkline');
  values['MODEL_CACHE_DIR'] = resolve(MODEL_CACHE_DIR || defaultCacheDir(environment));
  values['isDataDirDefault'] = DATA_DIR === '';
  values['DATA_DIR'] = DATA_DIR === NO_FOLDER ? NO_FOLDER : resolve(DATA_DIR || stateFolder);
  if (MODELS_DIR === NO_FOLDER) return;
  values['MODELS_DIR'] = resolve(
    MODELS_DIR || join(DATA_DIR === NO_FOLDER || DATA_DIR === '' ? stateFolder : DATA_DIR, 'models'),
  );
}

function findUnknown(environment: Environment): string[] {
  return findTypos(environment).map(({ name, meant }) => `${name}: no such setting, did you mean ${meant}?`);
}

/** What MAX_CALLS=0 means on this number of `cores`, which may be a fraction. */
export function maxCallsOf(cores: number): number {
  return Math.max(Math.floor(CALLS_PER_CORE * cores), 1);
}

/** The user's cache folder: https://specifications.freedesktop.org/basedir-spec/latest/ */
function defaultCacheDir(environment: Environment): string {
  return join(environment['XDG_CACHE_HOME'] || join(environment['HOME'] || homedir(), '.cache'), 'trunkline');
}

/** The user's configuration folder: https://specifications.freedesktop.org/basedir-spec/latest/ */
function configDir(environment: Environment): string {
  return environment['XDG_CONFIG_HOME'] || join(environment['HOME'] || homedir(), '.config');
}

/** Where the user's programs keep what must last: https://specifications.freedesktop.org/basedir-spec/latest/ */
function stateDir(environment: Environment): string {
  return environment['XDG_STATE_HOME'] || join(environment['HOME'] || homedir(), '.local', 'state');
}

/** The running server that commands talk to, as TRUNKLINE_URL and TRUNKLINE_KEY name it; empty = not named. */
export function readServerAddress(environment: Environment = process.env): { url: string; key: string } {
  return { url: environment['TRUNKLINE_URL']?.trim() ?? '', key: environment['TRUNKLINE_KEY']?.trim() ?? '' };
}

/** The environment for a child process: that of this process, and `defaults` for variables that are not set. */
export function childEnvironment(defaults: Readonly<Record<string, string>>): Environment {
  return { ...defaults, ...process.env };
}

/** Whether `host` is a loopback address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * The widest private networks are 10.0.0.0/8 and fc00::/7. A wider one, such as half of all addresses, has strangers.
 */
function hasStrangers(range: string): boolean {
  const [, prefix] = range.split('/');
  return prefix !== undefined && Number(prefix) < 7;
}

function findContradictions(settings: Settings): string[] {
  const problems: string[] = [];
  if (settings.TRUSTED_PROXIES.some(hasStrangers)) {
    problems.push(
      'TRUSTED_PROXIES: got a network with public addresses, from which anyone could forge X-Forwarded-For: ' +
        'name your proxies',
    );
  }
  if (settings.RTP_ALLOW.some(hasStrangers)) {
    problems.push(
      'RTP_ALLOW: got a network with public addresses, from which anyone could send audio into any call: ' +
        'name your media relays',
    );
  }
  problems.push(...findSipProblems(settings));
  if ((settings.TLS_CERT === '') !== (settings.TLS_KEY === ''))
    problems.push('TLS_CERT and TLS_KEY belong together: set both or neither');
  if (settings.AUDIOSOCKET_ALLOW.some(hasStrangers) && !settings.ALLOW_ANONYMOUS) {
    problems.push(
      'AUDIOSOCKET_ALLOW: got a network with public addresses, and AudioSocket has no credentials: ' +
        'name your networks, or set ALLOW_ANONYMOUS=true',
    );
  }
  if (settings.RECORD !== 'off' && settings.DATA_DIR === NO_FOLDER)
    problems.push(`RECORD: got ${settings.RECORD}, but DATA_DIR=${NO_FOLDER} keeps nothing: name a folder in DATA_DIR`);
  if (settings.ARI_URL !== '' && settings.ARI_PASSWORD === '') {
    problems.push('ARI_URL needs ARI_PASSWORD: the password of the user ARI_USER in ari.conf');
  }
  if (settings.CALL_WEBHOOK_URL !== '' && settings.WEBHOOK_SECRET === '')
    problems.push('CALL_WEBHOOK_URL needs WEBHOOK_SECRET: the key that its webhooks are signed with');
  if (settings.TURN_EARLY_ABOVE < settings.TURN_HOLD_BELOW) {
    problems.push(
      `TURN_EARLY_ABOVE: got ${settings.TURN_EARLY_ABOVE}, expected at least ${settings.TURN_HOLD_BELOW}, below ` +
        'which turns are held',
    );
  }
  return problems;
}

/** Settings that let strangers in without a key, or with one that they can guess. */
function findExposures(settings: Settings, users: 'none' | 'unknown'): string[] {
  const { API_KEYS } = settings;
  const reach = reachOf(settings);
  if (reach === null) return [];
  if (API_KEYS.some(isShort)) {
    return [
      `API_KEYS: ${countShort(API_KEYS)}, expected at least that because other machines can try keys (${reach}); ` +
        '`openssl rand -hex 16` makes one',
    ];
  }
  const problem = users === 'unknown' && mayHaveUsers(settings) ? null : exposureWithoutUsers(settings);
  return problem === null ? [] : [problem];
}

/** Whether there is a place where users can be. */
function mayHaveUsers({ DATA_DIR, DATABASE_URL, USERS_FILE }: Settings): boolean {
  return DATA_DIR !== NO_FOLDER || DATABASE_URL !== '' || USERS_FILE !== '';
}

/** Why the server must not start if there are no users; null = it may. */
export function exposureWithoutUsers(settings: Settings): string | null {
  const { HOST, PUBLIC_URL, API_KEYS, ALLOW_ANONYMOUS } = settings;
  if (reachOf(settings) === null || API_KEYS.length > 0 || ALLOW_ANONYMOUS) return null;
  if (!isLoopback(HOST))
    return (
      `HOST=${HOST} is reachable from other machines: set API_KEYS, add a user (\`trunkline user add\`), or set ` +
      'ALLOW_ANONYMOUS=true to let anyone in'
    );
  return (
    `PUBLIC_URL=${PUBLIC_URL} without API_KEYS: through a proxy or tunnel, requests of strangers can look like those ` +
    'of this machine, which needs no key for /v1. Set API_KEYS or add a user (`trunkline user add`), even if only ' +
    'carriers use that address, or set ALLOW_ANONYMOUS=true to let anyone in'
  );
}

/** What an operator should know about settings that can be used: one line each. */
export function findWarnings(settings: Settings): string[] {
  const { PUBLIC_URL, API_KEYS, ALLOW_ANONYMOUS } = settings;
  const warnings: string[] = [...settings.notices];
  if (PUBLIC_URL !== '' && ALLOW_ANONYMOUS) {
    warnings.push(
      `ALLOW_ANONYMOUS=true lets everyone who reaches ${PUBLIC_URL} use everything that no secret protects: ` +
        'unset it, and set API_KEYS',
    );
  }
  // If other machines can reach the server, these have stopped the start.
  if (API_KEYS.some(isShort))
    warnings.push(`API_KEYS: ${countShort(API_KEYS)}; a public server would not start with them`);
  warnings.push(...findClosedTargets(settings));
  const reach = reachOf(settings);
  for (const name of ['CARRIER_TOKEN', 'ASTERISK_PASSWORD'] as const) {
    if (reach !== null && settings[name] !== '' && isShort(settings[name]))
      warnings.push(`${name} has fewer than ${KEY_MIN_CHARS} characters, and other machines can try it (${reach})`);
  }
  return warnings;
}

/** Without looking up the addresses of a name. */
function findClosedTargets({ APP_TWIML_URL, CALL_WEBHOOK_URL, OUTBOUND_ALLOW }: Settings): string[] {
  const targets = [
    ['APP_TWIML_URL', APP_TWIML_URL, 'apps'],
    ['CALL_WEBHOOK_URL', CALL_WEBHOOK_URL, 'calls'],
  ] as const;
  return targets
    .filter(([, url, purpose]) => url !== '' && !mayReach(new URL(url).hostname, OUTBOUND_ALLOW, purpose))
    .map(
      ([name, url, purpose]) =>
        `${name} is at a private address, which the server does not request: set ` +
        `OUTBOUND_ALLOW=${purpose}=${new URL(url).hostname.replace(/^\[|\]$/g, '')}`,
    );
}

function mayReach(hostname: string, allowed: readonly string[], purpose: OutboundPurpose): boolean {
  if (hostname === 'localhost') return operatorTargets(allowed, purpose).takesName(hostname);
  try {
    operatorTargets(allowed, purpose).check(hostname);
    return true;
  } catch {
    return false;
  }
}

/** The setting that lets other machines reach this server; null = none does. */
function reachOf({ HOST, PUBLIC_URL }: Settings): string | null {
  if (!isLoopback(HOST)) return `HOST=${HOST}`;
  return PUBLIC_URL === '' ? null : `PUBLIC_URL=${PUBLIC_URL}`;
}

function isShort(key: string): boolean {
  return key.length < KEY_MIN_CHARS;
}

function countShort(keys: readonly string[]): string {
  return `${keys.filter(isShort).length} of ${keys.length} have fewer than ${KEY_MIN_CHARS} characters`;
}
