/** The users of USERS_FILE: YAML that the operator or `trunkline user` writes. */
import { readFile, stat } from 'node:fs/promises';
import { isNode, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Log } from '../../foundation/log/log.ts';
import { kindOfSecret } from './secrets.ts';
import { agentName, agentOf, roleName, type User, userName } from './user.ts';
import { UserList, type Users } from './users.ts';

const FILE_MAX_BYTES = 4_194_304;
/** How often the file is looked at. */
const LOOK_MS = 2000;

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

/** The file cannot be used. The message is `path:line:column: what came and what was expected`. */
export class UsersFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsersFileError';
  }
}

/**
 * The users in `text`; `path` is for messages. Their `createdMs` is 0: the file does not say it.
 * @throws UsersFileError for the first thing that is wrong. It repeats no secret
 */
export function parseUsers(text: string, path: string): User[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, strict: true, uniqueKeys: true, prettyErrors: false });
  const refuse = (offset: number, message: string): never => {
    const { line, col } = lines.linePos(offset);
    throw new UsersFileError(`${path}:${line}:${col}: ${message}`);
  };
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) refuse(problem.pos[0], problem.message);
  const parsed = usersFile.safeParse(toPlain(document, path));
  if (parsed.success) {
    const users = parsed.data.users.map(toUser);
    users.forEach(({ name }, at) => {
      const isTwice = users.findIndex((user) => user.name === name) < at;
      if (isTwice)
        refuse(offsetOf(document, ['users', at, 'name']), `users.${at}.name: there is a user of that name above`);
    });
    return users;
  }
  const [issue] = parsed.error.issues;
  const at = (issue?.path ?? []).filter((part) => typeof part !== 'symbol');
  return refuse(offsetOf(document, at), `${at.join('.') || 'the file'}: ${issue?.message ?? 'is not as expected'}`);
}

type Document = ReturnType<typeof parseDocument>;

/** No aliases: a short text could stand for any amount of users. */
function toPlain(document: Document, path: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    throw new UsersFileError(`${path}: has aliases (*), expected none`);
  }
}

/** Where the value at `path` begins, or the nearest around it. */
function offsetOf(document: Document, path: readonly (string | number)[]): number {
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const node: unknown = document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
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
  readonly list = new UserList();
  readonly #options: FileOptions;
  readonly #timer: Timer;
  #seen = '';
  #isLooking = false;

  private constructor(options: FileOptions) {
    this.#options = options;
    this.#timer = options.clock.every(LOOK_MS, () => void this.look(), true);
  }

  /** @throws UsersFileError when the file is missing or cannot be used */
  static async open(options: FileOptions): Promise<FileUsers> {
    const users = new FileUsers(options);
    try {
      await users.#read();
    } catch (error) {
      users.close();
      throw error;
    }
    return users;
  }

  /** Reads the file if it has changed. Never rejects. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      if (await this.#read()) this.#options.log.info({ users: this.list.size }, 'USERS_FILE was read again');
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#options.log.error(`USERS_FILE has changed and cannot be used; the users stay as they were: ${message}`);
    } finally {
      this.#isLooking = false;
    }
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
    this.#timer.cancel();
  }

  /** Whether the file had changed. A file that cannot be used is told once. */
  async #read(): Promise<boolean> {
    const { path } = this.#options;
    const mark = await markOf(path);
    if (mark === this.#seen) return false;
    this.#seen = mark;
    this.list.replace(parseUsers(await readUsersFile(path), path));
    return true;
  }
}

/** Changes whenever the file does, also when another takes its place. */
async function markOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found === null ? 'missing' : `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
}

/** @throws UsersFileError when it is missing, no file, or too large */
export async function readUsersFile(path: string): Promise<string> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsersFileError(`${path}: cannot be read (${error.code ?? error.message})`);
  });
  if (!found.isFile() || found.size > FILE_MAX_BYTES)
    throw new UsersFileError(`${path}: expected a file of at most ${FILE_MAX_BYTES} bytes`);
  return readFile(path, 'utf8');
}

function refuseChange(): Promise<never> {
  return Promise.reject(
    new TrunklineError(
      'users_in_file',
      'the users of this server are in its USERS_FILE: change that, or run `trunkline user` with USERS_FILE set',
    ),
  );
}
