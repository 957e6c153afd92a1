/** Reads the settings from the environment, once. The only file that touches `process.env`. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { refusePrivateAddress } from '../addresses.ts';
import { coresAvailable } from '../machine/cores.ts';
import { hideCredentialsIn } from '../urls.ts';
import { findTypos } from './setting-typos.ts';
import { SETTINGS, type Settings } from './settings.ts';

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

/** Live calls that each core is taken to hold, where MAX_CALLS does not say how many there may be. */
const CALLS_PER_CORE = 20;

type Environment = Readonly<Record<string, string | undefined>>;

/** Guessing a key of this length, made at random, is hopeless at any rate. */
const KEY_MIN_CHARS = 16;

/**
 * The settings in `environment` (the process's own by default), defaults filled in, frozen. Those of a command that
 * opens no port of theirs (`opensPorts` false) may open one to strangers.
 * @throws ConfigError naming every value that is not allowed, every likely typo and every contradiction.
 */
export function readSettings(environment: Environment = process.env, { opensPorts = true } = {}): Settings {
  const problems = findTypos(Object.keys(environment), (name) => environment[name] !== undefined).map(
    ({ name, meant }) => `${name}: no such setting, did you mean ${meant}?`,
  );
  const values: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(SETTINGS)) {
    const given = environment[name] ?? '';
    const parsed = spec.schema.safeParse(given === '' ? spec.defaultText : given.trim());
    if (parsed.success) values[name] = parsed.data;
    else
      problems.push(
        `${name}: got ${'secret' in spec ? 'a value that is not allowed' : JSON.stringify(hideCredentialsIn(given))}, expected ${parsed.error.issues[0]?.message ?? spec.unit}`,
      );
  }
  if (problems.length === 0) {
    problems.push(...(opensPorts ? findExposures(values as Settings) : []), ...findContradictions(values as Settings));
  }
  if (problems.length > 0) throw new ConfigError(problems);
  values['MODEL_CACHE_DIR'] = resolve((values as Settings).MODEL_CACHE_DIR || defaultCacheDir(environment));
  values['MAX_CALLS'] ||= maxCallsOf(coresAvailable());
  return Object.freeze(values) as Settings;
}

/** What MAX_CALLS=0 means where so many `cores` are ours, which may be a fraction. */
export function maxCallsOf(cores: number): number {
  return Math.max(Math.floor(CALLS_PER_CORE * cores), 1);
}

/** Where programs keep what they can make again: https://specifications.freedesktop.org/basedir-spec/latest/ */
function defaultCacheDir(environment: Environment): string {
  return join(environment['XDG_CACHE_HOME'] || join(environment['HOME'] || homedir(), '.cache'), 'trunkline');
}

/** The environment for a child process: our own, and `defaults` for what is not set there. */
export function childEnvironment(defaults: Readonly<Record<string, string>>): Environment {
  return { ...defaults, ...process.env };
}

/** Whether `host` is this machine alone. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * The private networks that are widest are 10.0.0.0/8 and fc00::/7: what is wider has strangers in it, and two halves
 * are the whole.
 */
function isOfEverybody(range: string): boolean {
  const [, prefix] = range.split('/');
  return prefix !== undefined && Number(prefix) < 7;
}

function findContradictions(settings: Settings): string[] {
  const problems: string[] = [];
  if (settings.TRUSTED_PROXIES.some(isOfEverybody)) {
    problems.push(
      'TRUSTED_PROXIES: got a network of all addresses, so that anybody could say who he is: name your proxies',
    );
  }
  if (settings.RTP_ALLOW.some(isOfEverybody)) {
    problems.push(
      'RTP_ALLOW: got a network of all addresses, so that anybody could speak in any call: name your media relays',
    );
  }
  for (const name of ['SIP_REGISTRAR', 'SIP_TRUNK'] as const) {
    if (settings[name] !== '' && settings.SIP_PORT === 0)
      problems.push(`${name} needs a port of our own: set SIP_PORT, usually to 5060`);
  }
  if (settings.SIP_REGISTRAR !== '' && settings.SIP_USER === '')
    problems.push('SIP_REGISTRAR: set SIP_USER, the name to register');
  if (settings.AUDIOSOCKET_ALLOW.some(isOfEverybody) && !settings.ALLOW_ANONYMOUS) {
    problems.push(
      'AUDIOSOCKET_ALLOW: got a network of all addresses, and AudioSocket has no credentials: name yours, or set ALLOW_ANONYMOUS=true',
    );
  }
  if (settings.ARI_URL !== '' && settings.ARI_PASSWORD === '') {
    problems.push('ARI_URL needs ARI_PASSWORD: the password of the user ARI_USER in ari.conf');
  }
  if (settings.VAD_STOP_THRESHOLD > settings.VAD_START_THRESHOLD) {
    problems.push(
      `VAD_STOP_THRESHOLD: got ${settings.VAD_STOP_THRESHOLD}, expected at most VAD_START_THRESHOLD (${settings.VAD_START_THRESHOLD})`,
    );
  }
  if (settings.EAGER_MS > settings.ENDPOINT_MS) {
    problems.push(`EAGER_MS: got ${settings.EAGER_MS}, expected at most ENDPOINT_MS (${settings.ENDPOINT_MS})`);
  }
  if (settings.WINDOW_MAX_MS < settings.CHUNK_MS + settings.OVERLAP_MS) {
    problems.push(
      `WINDOW_MAX_MS: got ${settings.WINDOW_MAX_MS}, expected at least CHUNK_MS + OVERLAP_MS (${settings.CHUNK_MS + settings.OVERLAP_MS})`,
    );
  }
  return problems;
}

/** Settings by which strangers reach what no secret guards, or one that can be guessed. */
function findExposures(settings: Settings): string[] {
  const { HOST, PUBLIC_URL, API_KEYS, ALLOW_ANONYMOUS } = settings;
  const reach = reachOf(settings);
  if (reach === null) return [];
  if (API_KEYS.some(isShort)) {
    return [
      `API_KEYS: ${countShort(API_KEYS)}, expected at least that where ${reach} lets others try keys; \`openssl rand -hex 16\` makes one`,
    ];
  }
  if (API_KEYS.length > 0 || ALLOW_ANONYMOUS) return [];
  if (!isLoopback(HOST))
    return [`HOST=${HOST} is reachable from other machines: set API_KEYS, or ALLOW_ANONYMOUS=true to let anyone in`];
  return [
    `PUBLIC_URL=${PUBLIC_URL} without API_KEYS: behind a proxy or tunnel strangers can look like this machine, to which /v1 is open without keys. Set API_KEYS, also where carriers alone come that way, or ALLOW_ANONYMOUS=true to let anyone in`,
  ];
}

/** What an operator should know of settings that can be used: a line for each. */
export function findWarnings(settings: Settings): string[] {
  const { PUBLIC_URL, API_KEYS, ALLOW_ANONYMOUS } = settings;
  const warnings: string[] = [];
  if (PUBLIC_URL !== '' && ALLOW_ANONYMOUS) {
    warnings.push(
      `ALLOW_ANONYMOUS=true lets everybody who reaches ${PUBLIC_URL} use whatever no secret guards: unset it, and set API_KEYS`,
    );
  }
  // With others about, these have stopped the start.
  if (API_KEYS.some(isShort))
    warnings.push(`API_KEYS: ${countShort(API_KEYS)}; a public server would not start with them`);
  const { APP_TWIML_URL, APP_TWIML_ALLOW_PRIVATE } = settings;
  if (APP_TWIML_URL !== '' && !APP_TWIML_ALLOW_PRIVATE && isPrivateHost(new URL(APP_TWIML_URL).hostname)) {
    warnings.push('APP_TWIML_URL is at a private address, where it is not asked: set APP_TWIML_ALLOW_PRIVATE=true');
  }
  const reach = reachOf(settings);
  for (const name of ['CARRIER_TOKEN', 'ASTERISK_PASSWORD'] as const) {
    if (reach !== null && settings[name] !== '' && isShort(settings[name]))
      warnings.push(`${name} has fewer than ${KEY_MIN_CHARS} characters, and ${reach} lets others try it`);
  }
  return warnings;
}

/** As far as can be told without asking for the addresses of a name. */
function isPrivateHost(hostname: string): boolean {
  if (hostname === 'localhost') return true;
  try {
    refusePrivateAddress(hostname);
    return false;
  } catch {
    return true;
  }
}

/** The setting by which other machines reach this server; null = there is none. */
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
