/** The users of USERS_FILE: YAML that the operator or `trunkline user` writes. */
import { z } from 'zod';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Log } from '../../foundation/log/log.ts';
import { readFileText, WatchedFile } from '../../foundation/watched-file.ts';
import { parseYaml } from '../../foundation/yaml-text.ts';
import { kindOfSecret } from './secrets.ts';
import { agentName, agentOf, roleName, type User, userName } from './user.ts';
import { UserList, type Users } from './users.ts';

const FILE_MAX_BYTES = 4_194_304;

const fileUser = z
  .strictObject({
    name: userName,
    role: roleName,
    agent: agentName.optional(),
    secret: z
      .string()
      .refine(
        (secret) => kindOfSecret(secret) !== null,
        'expected what `trunkline user` writes: $scrypt$… or $sha256$…',
      ),
  })
  .refine(({ role, agent }) => role === 'agent' || agent === undefined, {
    path: ['agent'],
    message: 'only the role agent has an agent',
  });
const usersFile = z.strictObject({ users: z.array(fileUser).max(10_000) });

/**
 * The users in `text`; `path` is for messages. Their `createdMs` is 0: the file does not say it.
 * @throws FileError for the first thing that is wrong. It repeats no secret
 */
export function parseUsers(text: string, path: string): User[] {
  const { users } = parseYaml(text, path, usersFile, ({ users: read }, refuse) => {
    const names = read.map(({ name }) => name);
    const twice = names.findIndex((name, at) => names.indexOf(name) < at);
    if (twice >= 0) refuse(['users', twice, 'name'], 'there is a user of that name above');
  });
  return users.map(toUser);
}

function toUser({ name, role, agent, secret }: z.infer<typeof fileUser>): User {
  const kind = kindOfSecret(secret) ?? 'key';
  return { name, kind, role, agent: agentOf(role, name, agent), secret, createdMs: 0 };
}

interface FileOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'error'>;
}

/** The users of a file, which is read again when it has changed. One that cannot be used changes nothing. */
export class FileUsers implements Users {
  readonly source = 'file';
  readonly list: UserList;
  readonly #file: WatchedFile;

  private constructor(list: UserList, file: WatchedFile) {
    this.list = list;
    this.#file = file;
  }

  /** @throws FileError when the file is missing or cannot be used */
  static async open(options: FileOptions): Promise<FileUsers> {
    const list = new UserList();
    const take = (text: string) => {
      list.replace(parseUsers(text, options.path));
      return { users: list.size };
    };
    const file = await WatchedFile.open({ ...options, setting: 'USERS_FILE', maxBytes: FILE_MAX_BYTES, take });
    return new FileUsers(list, file);
  }

  /** Reads the file if it has changed. Never rejects. */
  look(): Promise<void> {
    return this.#file.look();
  }

  add(): Promise<never> {
    return refuseChange();
  }

  change(): Promise<never> {
    return refuseChange();
  }

  remove(): Promise<never> {
    return refuseChange();
  }

  close(): void {
    this.#file.close();
  }
}

/** @throws FileError when it is missing, no file, or too large */
export function readUsersFile(path: string): Promise<string> {
  return readFileText(path, FILE_MAX_BYTES);
}

function refuseChange(): Promise<never> {
  return Promise.reject(
    new TrunklineError(
      'users_in_file',
      'the users of this server are in its USERS_FILE: change that, or run `trunkline user` with USERS_FILE set',
    ),
  );
}
