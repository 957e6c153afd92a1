/** `trunkline support`: collects in one file what somebody needs who is to find a fault. It sends nothing. */
import { resolve } from 'node:path';
import { readTrunks } from '../../carriers/sip/trunk-list.ts';
import type { Clock } from '../../foundation/clock.ts';
import { formatBytes } from '../../foundation/format-bytes.ts';
import { ConfigError, givenSettings, readServerAddress } from '../../foundation/settings/config.ts';
import { describeSetting } from '../../foundation/settings/effective-settings.ts';
import { SETTINGS, type SettingName, type Settings } from '../../foundation/settings/settings.ts';
import { hideCredentialsIn } from '../../foundation/urls.ts';
import { findAll } from '../doctor.ts';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.ts';
import { printable } from '../printable.ts';
import { type ServerClient, type ServerFlags, serverOf } from '../server-client.ts';
import type { Terminal } from '../terminal.ts';
import { assertFree, type BundlePart, writeBundle } from './bundle.ts';
import { type Hide, hideIn, hideWith, secretsOf } from './hide.ts';
import { tailOfLog } from './log-tail.ts';
import { describeMachine, describeVersions } from './machine.ts';
import { callPart, metricsPart, systemPart } from './server-parts.ts';

const REACHED_WITHIN_MS = 2000;
const NAME_CHARS = 13;
const SIZE_CHARS = 9;

/** What the command takes. */
export interface SupportOptions extends ServerFlags {
  /** Null = a new name in this folder. */
  readonly out: string | null;
  /** A file with the server's log; null = none. */
  readonly log: string | null;
  /** The id of a call; null = none. */
  readonly call: string | null;
}

/** What is asked for, and what it says when it cannot be had. */
type Wanted = readonly [what: string, make: () => Promise<BundlePart>];

/**
 * Writes the bundle, and prints what is in it and where it is. Fails when something that was asked for is not in it.
 * @throws Error when the file exists
 */
export async function support(
  options: SupportOptions,
  clock: Pick<Clock, 'wall'>,
  terminal: Terminal,
): Promise<number> {
  const { out, err } = terminal;
  const name = `trunkline-support-${clock.wall().toISOString().slice(0, 19).replace(/\D/g, '')}`;
  const path = resolve(options.out ?? `${name}.tar.gz`);
  await assertFree(path);
  let checked = 0;
  const { settings, findings } = await findAll({ hashes: false }, (found) => {
    checked += found.length;
    err.live([{ text: `Checking… ${checked} done` }]);
  });
  err.live([]);
  const given = givenSettings();
  const hide = hideWith(secretsOf(settings, given, [...passwordsOf(settings), ...keysOf(options)]));
  const parts: BundlePart[] = [
    json('versions.json', 'of Trunkline, Node.js and packages', describeVersions()),
    json('machine.json', 'cores, memory, disk, descriptors', hideIn(await describeMachine(settings), hide)),
    json(
      'settings.json',
      'the settings, of secrets only whether they are set',
      describeSettings(settings, given, hide),
    ),
    json('doctor.json', 'the findings of `trunkline doctor`', hideIn(findings, hide)),
  ];
  const missing = await addWanted(await wantedOf(options, serverOf(options, settings), hide), parts);
  const notes = missing.map((note) => hide(note));
  parts.unshift({ name: 'README.txt', what: 'what is in it, and what is not', text: readme(parts, notes) });
  const bytes = await writeBundle(path, name, parts);
  for (const { name: part, what, text } of parts)
    out.line(`${part.padEnd(NAME_CHARS)}  ${formatBytes(Buffer.byteLength(text)).padStart(SIZE_CHARS)}  ${what}`);
  for (const note of notes) err.line(printable(`not in it: ${note}`));
  out.line(`${path} (${formatBytes(bytes)})`);
  out.line('Nothing was sent. Look through it before you give it to somebody: tar -xzf unpacks it.');
  return missing.length > 0 ? EXIT_FAILED : EXIT_OK;
}

async function wantedOf({ log, call, url }: SupportOptions, server: ServerClient, hide: Hide): Promise<Wanted[]> {
  const wanted: Wanted[] = [];
  if (log !== null) {
    const what = 'the last part of the log, from level info on';
    wanted.push(['the log', async () => ({ name: 'log.txt', what, text: await tailOfLog(log, hide) })]);
  }
  // A server that nobody named need not be there: maybe it does not start.
  const isWanted = url !== undefined || readServerAddress().url !== '' || call !== null;
  if (!isWanted && !(await server.isThere(REACHED_WITHIN_MS).catch(() => true))) return wanted;
  wanted.push(['system', () => systemPart(server, hide)], ['metrics', () => metricsPart(server, hide)]);
  if (call !== null) wanted.push([`the call ${call}`, () => callPart(server, call, hide)]);
  return wanted;
}

/** Adds what can be had, and returns why the rest cannot. */
async function addWanted(wanted: readonly Wanted[], parts: BundlePart[]): Promise<string[]> {
  const missing: string[] = [];
  for (const [what, make] of wanted) {
    try {
      parts.push(await make());
    } catch (error) {
      missing.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return missing;
}

/**
 * All settings. Those that are set, but cannot be used, are shown as they were set. Numbers in the values of settings
 * that are numbers count something.
 */
function describeSettings(settings: Settings, given: ReturnType<typeof givenSettings>, hide: Hide): object[] {
  return (Object.keys(SETTINGS) as SettingName[]).map((name) => {
    const { value, from } = describeSetting(name, settings);
    const set = from === 'default' ? given.get(name) : undefined;
    if (set !== undefined) {
      const unused = 'secret' in SETTINGS[name] ? '(set)' : hide(hideCredentialsIn(set.text));
      return { name, value: unused, from: set.isVariable ? 'environment' : 'file', isUsed: false };
    }
    return { name, value: typeof settings[name] === 'number' ? value : hide(value), from: hide(from) };
  });
}

/** Those of SIP_TRUNKS may be in a file of their own. */
function passwordsOf(settings: Settings): string[] {
  try {
    return readTrunks(settings).map(({ password }) => password);
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

function keysOf({ key = '' }: ServerFlags): string[] {
  return [key, readServerAddress().key];
}

function json(name: string, what: string, value: unknown): BundlePart {
  return { name, what, text: `${JSON.stringify(value, null, 2)}\n` };
}

function readme(parts: readonly BundlePart[], missing: readonly string[]): string {
  return [
    'Written by `trunkline support`. Nothing of it was sent anywhere.',
    '',
    ...parts.map(({ name, what }) => `${name.padEnd(NAME_CHARS)}  ${what}`),
    ...missing.map((note) => `not in it: ${note}`),
    '',
    'Hidden: the values of secret settings, passwords in URLs, users of addresses ([user]@), runs of seven and more',
    'digits ([number]), and in the events of a call all that was said, written or pressed. Names of machines, hosts',
    'and folders are shown.',
    '',
  ].join('\n');
}
