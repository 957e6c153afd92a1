/** The `trunkline user` commands: what they take. Their code is loaded when one is run. */
import { type Command, Option } from 'commander';
import { ROLES, type Role } from '../../foundation/roles.ts';
import { loadSettings } from '../../foundation/settings/config.ts';
import { parseWebUrl } from '../arguments.ts';
import { namedServer, type ServerFlags } from '../server-client.ts';
import type { Terminal } from '../terminal.ts';
import type { UserContext } from './manage.ts';

const NOTES = `
Roles:
  admin       everything, also users and the audit log
  supervisor  all calls: read, speak, hang up, note, export
  agent       the same for the calls whose parameter "agent" is theirs, but no
              export; numbers are masked
  app         the API for programs, without users and audit log

The users are looked for in this order: the server that --url or TRUNKLINE_URL
names; USERS_FILE, which a running server reads again; the server that runs on
this machine at PORT; DATA_DIR or DATABASE_URL, while no server has them. A
server is asked with --key, TRUNKLINE_KEY or the first of API_KEYS.

As soon as there is a user, everybody must sign in, so the first must be an
admin. A password is asked for without showing it, or read from standard input.

Examples:
  $ trunkline user add ann --role admin
  $ trunkline user add bob --role agent --agent bob@example.com
  $ trunkline user add crm --role app --generate-key    prints the key
  $ trunkline user password bob < new-password.txt`;

interface Flags extends ServerFlags {
  readonly json?: boolean;
}

type Done = (exitCode: number) => void;

/** Adds the commands to `program`; `done` gets the exit code. */
export function describeUsers(program: Command, terminal: Terminal, done: Done): void {
  const users = program
    .command('user')
    .description('people and keys that may use the server: add, list, remove, password, role')
    .addHelpText('after', NOTES);
  const context = (flags: Flags) => contextOf(flags, terminal);
  describeAdd(users, context, done);
  withServer(users.command('list').description('all users')).action(async (flags: Flags) => {
    const { listUsers } = await import('./manage.ts');
    done(await listUsers(context(flags)));
  });
  withServer(
    users.command('remove').description('remove a user, who is signed out everywhere').argument('<name>'),
  ).action(async (name: string, flags: Flags) => {
    const { removeUser } = await import('./manage.ts');
    done(await removeUser(name, context(flags)));
  });
  withServer(users.command('password').description('ask for a new password of a user').argument('<name>')).action(
    async (name: string, flags: Flags) => {
      const { changePassword } = await import('./manage.ts');
      done(await changePassword(name, context(flags)));
    },
  );
  const role = users.command('role').description('give a user another role').argument('<name>').argument('<role>');
  withServer(role.option('--agent <agent>', 'of an agent: the parameter "agent" of their calls')).action(
    async (name: string, given: string, { agent, ...flags }: Flags & { agent?: string }, command: Command) => {
      const wanted =
        ROLES.find((each) => each === given) ??
        command.error(`error: ${JSON.stringify(given)} is no role, expected ${ROLES.join(', ')}`);
      const { changeRole } = await import('./manage.ts');
      done(await changeRole(name, { role: wanted, agent }, context(flags)));
    },
  );
}

interface AddFlags extends Flags {
  readonly role: Role;
  readonly agent?: string;
  readonly generateKey?: boolean;
}

function describeAdd(users: Command, context: (flags: Flags) => UserContext, done: Done): void {
  const add = users
    .command('add')
    .description('add a person, who signs in with a password, or a key for a program')
    .argument('<name>', 'letters, digits and . _ @ + -')
    .addOption(new Option('--role <role>', 'what the user may do').choices(ROLES).makeOptionMandatory())
    .option('--agent <agent>', 'of an agent: the parameter "agent" of their calls (default: the name)')
    .option('--generate-key', 'make a key in place of a password');
  withServer(add).action(async (name: string, { role, agent, generateKey, ...flags }: AddFlags) => {
    const { addUser } = await import('./manage.ts');
    done(await addUser({ name, role, agent, isKey: generateKey === true }, context(flags)));
  });
}

function withServer(command: Command): Command {
  return command
    .option('--url <url>', 'the running server (default: TRUNKLINE_URL)', parseWebUrl)
    .option('--key <key>', 'a key of an admin (default: TRUNKLINE_KEY)')
    .option('--json', 'as JSON');
}

function contextOf({ json = false, ...flags }: Flags, terminal: Terminal): UserContext {
  const settings = loadSettings({ opensPorts: false });
  return { settings, server: namedServer(flags, settings), json, terminal };
}
