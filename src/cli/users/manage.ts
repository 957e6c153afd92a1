/** What the `trunkline user` commands do. */
import type { z } from 'zod';
import type { Role } from '../../foundation/roles.ts';
import { ConfigError } from '../../foundation/settings/config.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { agentName, newPassword, userName } from '../../records/users/user.ts';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.ts';
import type { ServerAddress } from '../server-client.ts';
import type { Terminal } from '../terminal.ts';
import { askPassword } from './ask-password.ts';
import { openUsers, type ShownUser, type UserPlace } from './user-places.ts';

/** What every one of these commands has. */
export interface UserContext {
  readonly settings: Settings;
  readonly server: ServerAddress;
  readonly json: boolean;
  readonly terminal: Terminal;
}

/** Adds a user; with `isKey` a key is made and printed, this once, otherwise a password is asked for. */
export async function addUser(
  wanted: { name: string; role: Role; agent: string | undefined; isKey: boolean },
  context: UserContext,
): Promise<number> {
  const { out, err } = context.terminal;
  return withUsers(context, async (place) => {
    const name = checked('name', userName, wanted.name);
    const agent = wanted.agent === undefined ? undefined : checked('--agent', agentName, wanted.agent);
    const isFirst = (await place.list()).length === 0;
    const password = wanted.isKey ? undefined : await askNewPassword(context.terminal);
    const { user, key } = await place.add({ name, role: wanted.role, agent, password });
    if (context.json) {
      out.line(JSON.stringify({ ...user, ...(key !== null && { key }) }));
    } else {
      err.line(`Added ${describe(user)} in ${place.name}.`);
      if (key !== null) {
        err.line('This is the key. It is not shown again:');
        out.line(key);
      }
    }
    if (isFirst) err.line(describeLock(user));
    return EXIT_OK;
  });
}

/** Lists the users. */
export async function listUsers(context: UserContext): Promise<number> {
  const { out, err } = context.terminal;
  return withUsers(context, async (place) => {
    const users = await place.list();
    if (context.json) out.line(JSON.stringify(users, null, 2));
    else if (users.length === 0) err.line(`There are no users in ${place.name}. trunkline user add makes the first.`);
    else for (const user of users) out.line(describe(user));
    return EXIT_OK;
  });
}

/** Removes a user, who is signed out everywhere. */
export async function removeUser(name: string, context: UserContext): Promise<number> {
  return withUsers(context, async (place) => tell(`Removed`, await place.remove(name), place, context));
}

/** Asks for a new password of a user, who is signed out everywhere. */
export async function changePassword(name: string, context: UserContext): Promise<number> {
  return withUsers(context, async (place) => {
    const password = await askNewPassword(context.terminal);
    return tell('Changed the password of', await place.change(name, { password }), place, context);
  });
}

/** Gives a user another role, or an agent another name. */
export async function changeRole(
  name: string,
  { role, agent }: { role: Role; agent: string | undefined },
  context: UserContext,
): Promise<number> {
  const wanted = { role, ...(agent !== undefined && { agent: checked('--agent', agentName, agent) }) };
  return withUsers(context, async (place) => tell('Changed', await place.change(name, wanted), place, context));
}

async function withUsers(context: UserContext, use: (place: UserPlace) => Promise<number>): Promise<number> {
  const { settings, server, terminal } = context;
  let place: UserPlace | null = null;
  try {
    place = await openUsers(settings, server);
    return await use(place);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    terminal.err.line(`trunkline user: ${error instanceof Error ? error.message : String(error)}`);
    return EXIT_FAILED;
  } finally {
    await place?.close();
  }
}

function tell(done: string, user: ShownUser, place: UserPlace, { json, terminal }: UserContext): number {
  if (json) terminal.out.line(JSON.stringify(user));
  else
    terminal.err.line(
      `${done} ${describe(user)} in ${place.name}. Whoever was signed in as ${user.name} is not any more.`,
    );
  return EXIT_OK;
}

async function askNewPassword(terminal: Terminal): Promise<string> {
  return checked('password', newPassword, await askPassword(terminal));
}

/** @throws Error that names what was expected, and does not repeat what came */
function checked<T>(what: string, schema: z.ZodType<T>, value: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Error(`${what}: ${parsed.error.issues[0]?.message ?? 'not as expected'}`);
}

function describe({ name, kind, role, agent }: ShownUser): string {
  const of = agent === null || agent === name ? '' : ` of the calls with agent=${agent}`;
  return `${name}: ${role}${of}, ${kind === 'key' ? 'a key' : 'a password'}`;
}

/** The first user changes who may come in. */
function describeLock({ name, kind }: ShownUser): string {
  const how = kind === 'key' ? 'the key above' : `the name ${name} and the password`;
  return (
    `From now on everybody must sign in, on this machine too: at the page with ${how}, with TRUNKLINE_KEY or --key ` +
    'in commands. Keys of API_KEYS go on working.'
  );
}
