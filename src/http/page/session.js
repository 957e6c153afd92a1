/** Who works with this page, and what they may do. */
import { getJson, KeyWanted, postJson, Refusal } from './gateway.js';

/**
 * `permissions` are those of src/http/access/permissions.ts.
 * @typedef {{ name: string, role: string, agent: string | null, permissions: readonly string[] | null }} Person
 * @typedef {'calls.act' | 'calls.note' | 'calls.make' | 'calls.listen' | 'calls.export' | 'calls.delete' | 'system' |
 *   'prompts' | 'prompts.read' | 'audit' | 'administration'} Permission
 */

export class Session {
  /** Null = the server has not said. @type {Person | null} */
  #person = null;
  /** The server knows people with a password, too. */
  #takesPasswords = false;
  /** @type {Set<() => void>} */
  #listeners = new Set();

  /** @returns {Person | null} */
  get person() {
    return this.#person;
  }

  get takesPasswords() {
    return this.#takesPasswords;
  }

  /**
   * Whether to offer something; the server decides. Where it does not say what somebody may do, everything is offered.
   * @param {Permission} permission
   */
  may(permission) {
    return this.#person?.permissions?.includes(permission) ?? true;
  }

  /** @param {() => void} listener called when the person changes @returns {() => void} ends that */
  onChange(listener) {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Asks who this is. Throws KeyWanted or NoAnswer. */
  async load() {
    try {
      this.#take(await getJson('/v1/session'));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#take(null);
    }
  }

  /** @param {any} answer */
  #take(answer) {
    this.#takesPasswords = answer?.passwords === true;
    const { name, role, agent = null, permissions = null } = answer ?? {};
    this.#person = typeof name === 'string' ? { name, role, agent, permissions } : null;
    for (const listener of this.#listeners) listener();
  }

  /**
   * Signs in with a key, or with a name and a password. Throws KeyWanted where they are wrong, else as gateway.js.
   * @param {{ key: string } | { name: string, password: string }} credentials
   */
  async signIn(credentials) {
    await postJson('/v1/session', credentials);
    await this.load().catch((error) => {
      if (!(error instanceof KeyWanted)) throw error;
    });
  }
}
