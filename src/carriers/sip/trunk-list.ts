/** The registrars and trunks that Trunkline is a customer of: those of the single settings, and those of SIP_TRUNKS. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { URI } from 'sip.js/lib/core/index.js';
import { z } from 'zod';
import { ConfigError } from '../../foundation/settings/config.ts';
import { isSipServer } from '../../foundation/settings/setting-forms.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { FileError, parseYaml } from '../../foundation/yaml-text.ts';
import { bracketed } from './destinations.ts';
import type { SrtpPolicy } from './wire/crypto-lines.ts';
import { hostOf, isTlsUri, type SipDestination } from './wire/uris.ts';
import { SIP_DEFAULT_PORT, SIPS_DEFAULT_PORT, type SipTransport } from './wire/via.ts';

/** The trunk of the single settings. */
const FIRST_NAME = 'default';
const TRUNKS_MAX = 64;
const PREFIXES_MAX = 256;

/** A registrar, trunk or proxy. */
export interface SipServer extends SipDestination {
  readonly scheme: 'sip' | 'sips';
  readonly transport: SipTransport;
}

/** One account with a provider or PBX. */
export interface SipTrunk {
  readonly name: string;
  /** Where we register; null = nowhere. */
  readonly registrar: SipServer | null;
  /** Where calls go. */
  readonly server: SipServer;
  /** Where requests outside of calls go first; null = straight to registrar and server. */
  readonly proxy: SipServer | null;
  /** '' = calls name no user of ours. */
  readonly user: string;
  readonly password: string;
  /** For the calls that we make. */
  readonly srtp: SrtpPolicy;
  /** How the numbers begin that it takes, unless a call names it; null = it takes all. */
  readonly prefixes: readonly string[] | null;
}

/** What the list is read from. */
export type TrunkSettings = Pick<
  Settings,
  | 'SIP_PASSWORD'
  | 'SIP_PORT'
  | 'SIP_PROXY'
  | 'SIP_REGISTRAR'
  | 'SIP_SRTP'
  | 'SIP_TLS_PORT'
  | 'SIP_TRUNK'
  | 'SIP_TRUNKS'
  | 'SIP_USER'
>;

const server = z.string().refine(isSipServer, 'expected a server such as sip:pbx.example.com;transport=tls').optional();
const trunkList = z
  .array(
    z.strictObject({
      name: z.string().regex(/^[\w.-]{1,64}$/, 'expected 1 to 64 letters, digits and . _ -'),
      registrar: server,
      server,
      proxy: server,
      user: z.string().max(256).optional(),
      password: z.string().max(256).optional(),
      srtp: z.enum(['off', 'allow', 'require']).optional(),
      prefixes: z
        .array(z.string().regex(/^[+*#\w.-]{1,32}$/, 'expected the beginning of a number, such as "+49"'))
        .max(PREFIXES_MAX)
        .optional(),
    }),
  )
  .max(TRUNKS_MAX);
type WrittenTrunk = z.infer<typeof trunkList>[number];

/**
 * All trunks, that of the single settings first.
 * @throws ConfigError when SIP_TRUNKS cannot be used
 */
export function readTrunks(settings: TrunkSettings): SipTrunk[] {
  const { SIP_REGISTRAR, SIP_TRUNK, SIP_PROXY, SIP_USER, SIP_PASSWORD, SIP_SRTP } = settings;
  const first: WrittenTrunk = {
    name: FIRST_NAME,
    registrar: SIP_REGISTRAR,
    server: SIP_TRUNK,
    proxy: SIP_PROXY,
    user: SIP_USER,
    password: SIP_PASSWORD,
  };
  const written = [...(SIP_REGISTRAR === '' && SIP_TRUNK === '' ? [] : [first]), ...readList(settings)];
  const trunks = written.flatMap((each) => {
    const registrar = readServer(each.registrar);
    const calls = readServer(each.server) ?? registrar;
    if (calls === null) return [];
    const { name, user = '', password = '', srtp = SIP_SRTP, prefixes = null } = each;
    return [{ name, registrar, server: calls, proxy: readServer(each.proxy), user, password, srtp, prefixes }];
  });
  refuseClosedTransports(trunks, settings);
  return trunks;
}

/** What goes over UDP or TCP would be left out without a word where TLS alone is open. */
function refuseClosedTransports(trunks: readonly SipTrunk[], { SIP_PORT, SIP_TLS_PORT }: TrunkSettings): void {
  if (SIP_PORT !== 0 || SIP_TLS_PORT === 0) return;
  const isClosed = ({ registrar, server, proxy }: SipTrunk): boolean =>
    [registrar, server].some((each) => each !== null && (proxy ?? each).transport !== 'TLS');
  const closed = trunks.filter(isClosed).map(({ name }) => name);
  if (closed.length > 0)
    throw new ConfigError([
      `SIP_TRUNKS: ${closed.join(', ')} without TLS: set SIP_PORT, usually to 5060, or add ;transport=tls`,
    ]);
}

function readList({ SIP_TRUNKS: setting, SIP_REGISTRAR, SIP_TRUNK }: TrunkSettings): WrittenTrunk[] {
  if (setting === '') return [];
  const isInline = setting.startsWith('[');
  const path = isInline ? 'SIP_TRUNKS' : resolve(setting);
  try {
    const text = isInline ? setting : readText(path);
    return parseYaml(text, path, trunkList, (list, refuse) => {
      const names = new Set(SIP_REGISTRAR === '' && SIP_TRUNK === '' ? [] : [FIRST_NAME]);
      for (const [index, { name, registrar, server: calls, user }] of list.entries()) {
        if (names.has(name)) refuse([index, 'name'], 'got a name twice, expected one for each trunk');
        names.add(name);
        if (registrar === undefined && calls === undefined)
          refuse([index], 'got neither registrar nor server, expected one');
        if (registrar !== undefined && (user ?? '') === '')
          refuse([index], 'got a registrar without user, expected the name to register');
      }
    });
  } catch (error) {
    if (error instanceof FileError) throw new ConfigError([isInline ? error.message : `SIP_TRUNKS: ${error.message}`]);
    throw error;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new FileError(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** `sip:host[:port][;transport=…]` or `sips:…`; null when empty. */
function readServer(text = ''): SipServer | null {
  const destination = hostOf(text);
  if (destination === null) return null;
  const isTcp = /;transport=tcp$/i.test(text);
  return {
    ...destination,
    scheme: /^sips:/i.test(text) ? 'sips' : 'sip',
    transport: isTlsUri(text) ? 'TLS' : isTcp ? 'TCP' : 'UDP',
  };
}

/** The URI of a user at a server; null = of the server itself. */
export function uriAt({ scheme, host, port, transport }: SipServer, user: string | null): URI {
  const parameters = transport === 'UDP' || scheme === 'sips' ? {} : { transport: transport.toLowerCase() };
  const defaultPort = transport === 'TLS' ? SIPS_DEFAULT_PORT : SIP_DEFAULT_PORT;
  return new URI(scheme, user ?? '', bracketed(host), port === defaultPort ? undefined : port, parameters);
}

/** The Route headers that lead requests outside of calls over the trunk's proxy (RFC 3261 §8.1.2). */
export function routeOver({ proxy }: Pick<SipTrunk, 'proxy'>): string[] {
  if (proxy === null) return [];
  return [`<${uriAt(proxy, null).toString()};lr>`];
}

/** Where requests outside of calls go first. */
export function firstHop(trunk: SipTrunk, target: SipServer): SipServer {
  return trunk.proxy ?? target;
}
