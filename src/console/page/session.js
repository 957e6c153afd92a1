/** Who works with this page, and what they may do. */
import { deleteJson, getJson, KeyWanted, postJson, Refusal } from './gateway.js';

/**
 * `permissions` are those of src/http/access/permissions.ts; `canSignOut`: they have signed in, with a session.
 * @typedef {{ name: string, role: string, agent: string | null, permissions: readonly string[] | null,
 *   canSignOut: boolean }} Person
 * @typedef {'calls.act' | 'calls.note' | 'calls.make' | 'calls.listen' | 'calls.export' | 'calls.delete' |
 *   'flows.read' | 'system' |
 *   'settings' | 'prompts' | 'prompts.read' | 'audit' | 'administration'} Permission
 */

export class Session {
  /** Null = the server has not said. @type {Person | null} */
  #person = null;
  /** @type {Set<() => void>} */
  #listeners = new Set();

  /** @returns {Person | null} */
  get person() {
    return this.#person;
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
    const { name, role, agent = null, permissions = null, session = false } = answer ?? {};
    const canSignOut = session === true;
    this.#person = typeof name === 'string' ? { name, role, agent, permissions, canSignOut } : null;
    for (const listener of this.#listeners) listener();
  }

  /** Ends the session. Throws as gateway.js. */
  async signOut() {
    await deleteJson('/v1/session');
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
