/** Changes USERS_FILE for `trunkline user`, and leaves comments and order as they are. */
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { type Document, isMap, isSeq, parseDocument, type YAMLSeq } from 'yaml';
import { TrunklineError } from '../../foundation/errors.ts';
import { PRIVATE_FILE_MODE } from '../../foundation/folders/folders.ts';
import type { User } from './user.ts';
import { type UserChange, UserList, type Users } from './users.ts';
import { parseUsers, readUsersFile } from './users-file.ts';

/** The users of a file that this process may write. */
export class EditableUsersFile implements Users {
  readonly source = 'file';
  readonly list = new UserList();
  readonly #path: string;
  #text: string;

  private constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
    this.list.replace(parseUsers(text, path));
  }

  /** A file that is missing has no users, and is made with the first. @throws FileError when it cannot be used */
  static async open(path: string): Promise<EditableUsersFile> {
    const isThere = await stat(path).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
    );
    return new EditableUsersFile(path, isThere ? await readUsersFile(path) : 'users: []\n');
  }

  async add({ name, role, agent, secret }: User): Promise<void> {
    if (this.list.find(name) !== undefined) throw new TrunklineError('user_exists', 'there is a user of that name');
    await this.#edit((users, document) => {
      users.flow = false;
      users.add(document.createNode({ name, role, ...(agent !== null && { agent }), secret }));
    });
  }

  async change(name: string, change: UserChange): Promise<User> {
    const user = this.list.get(name);
    await this.#edit((users) => {
      for (const [field, value] of Object.entries(change)) {
        const path = [this.#indexOf(user), field];
        if (value === null) users.deleteIn(path);
        else users.setIn(path, value);
      }
    });
    return this.list.get(name);
  }

  async remove(name: string): Promise<void> {
    const user = this.list.get(name);
    await this.#edit((users) => void users.delete(this.#indexOf(user)));
  }

  close(): void {
    // Nothing is open.
  }

  /** The file's users in its order, which is that of {@link parseUsers}. */
  #indexOf({ name }: User): number {
    return parseUsers(this.#text, this.#path).findIndex((user) => user.name === name);
  }

  async #edit(edit: (users: YAMLSeq, document: Document) => void): Promise<void> {
    const document = parseDocument(this.#text);
    if (!isMap(document.contents)) throw new Error('the file is no map, although it was read');
    const users = document.get('users');
    if (!isSeq(users)) throw new Error('the file has no list of users, although it was read');
    edit(users, document);
    const text = document.toString({ lineWidth: 0 });
    const changed = parseUsers(text, this.#path);
    await this.#write(text);
    this.#text = text;
    this.list.replace(changed);
  }

  /** Whole or not at all, with the mode that the file has. */
  async #write(text: string): Promise<void> {
    const draft = `${this.#path}.part`;
    const mode = await stat(this.#path).then(
      (found) => found.mode & 0o777,
      () => PRIVATE_FILE_MODE,
    );
    try {
      await writeFile(draft, text, { flush: true, mode });
      await rename(draft, this.#path);
    } catch (error) {
      await rm(draft, { force: true }).catch(() => undefined);
      throw error;
    }
  }
}
