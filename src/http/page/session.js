/** Who works with this page, and what they may do. */
import { getJson, KeyWanted, postJson, Refusal } from './gateway.js';

/**
 * @typedef {'admin' | 'supervisor' | 'agent' | 'app'} Role
 * @typedef {{ name: string, role: Role, agent: string | null }} Person
 * @typedef {'act' | 'write' | 'delete' | 'system'} Deed
 */

/** Acting is to say, press keys and hang up; writing is notes, outcome and tags. @type {Record<Role, readonly Deed[]>} */
const MAY = {
  admin: ['act', 'write', 'delete', 'system'],
  supervisor: ['act', 'write', 'system'],
  agent: ['act', 'write'],
  app: ['act', 'write'],
};

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
   * Whether to offer something; the server decides. A server that does not say who somebody is lets them do everything.
   * @param {Deed} deed
   */
  may(deed) {
    return this.#person === null || MAY[this.#person.role].includes(deed);
  }

  /** @param {() => void} listener called when the person changes @returns {() => void} ends that */
  onChange(listener) {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Asks who this is. An older server does not know the question. Throws KeyWanted or NoAnswer. */
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
    const known = typeof answer?.name === 'string' && answer.role in MAY;
    this.#person = known ? { name: answer.name, role: answer.role, agent: answer.agent ?? null } : null;
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
