/** The users of the server and the audit log, for admins. */
import { askToConfirm } from '../confirm.js';
import { make, setText } from '../dom.js';
import { deleteJson, getJson, postJson, Refusal } from '../gateway.js';
import { addressOf } from '../router.js';
import { panel } from './panel.js';

/** @typedef {{ name: string, kind: 'person' | 'key', role: string, agent: string | null }} User */

const ROLES = ['agent', 'supervisor', 'admin', 'app'];

export class Users {
  #context;
  #list = make('ul', { class: 'users' });
  #answer = make('p', { class: 'panel-note', role: 'status' });
  #problem = make('p', { class: 'problem', role: 'alert' });
  #password = make('input', {
    id: 'user-password',
    name: 'password',
    type: 'password',
    autocomplete: 'new-password',
    placeholder: 'empty = make a key',
  });
  element = panel('users', 'Users', this.#list, this.#answer, this.#buildForm());

  /** @param {import('../view.js').ViewContext} context */
  constructor(context) {
    this.#context = context;
  }

  /** Lists them, if whoever looks may know them. */
  async open() {
    this.element.hidden = !this.#context.session.may('administration');
    if (this.element.hidden) return;
    try {
      this.#draw((await getJson('/v1/admin/users')).data);
    } catch (error) {
      if (error instanceof Refusal) this.element.hidden = true;
      else this.#context.fail(error);
    }
  }

  #buildForm() {
    const form = make(
      'form',
      { class: 'user-form' },
      make('label', { for: 'user-name' }, 'Name'),
      make('input', {
        id: 'user-name',
        name: 'name',
        required: true,
        maxlength: 64,
        autocomplete: 'off',
        spellcheck: false,
      }),
      make('label', { for: 'user-role' }, 'Role'),
      make('select', { id: 'user-role', name: 'role' }, ...ROLES.map((role) => make('option', {}, role))),
      make('label', { for: 'user-password' }, 'Password'),
      this.#password,
      make('button', { type: 'submit', class: 'strong' }, 'Add'),
      this.#problem,
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#add(form);
    });
    return make('details', { class: 'more' }, make('summary', {}, 'Add a user or a key'), form);
  }

  /** @param {HTMLFormElement} form */
  async #add(form) {
    const values = new FormData(form);
    const [name, role] = [String(values.get('name')).trim(), String(values.get('role'))];
    const password = this.#password.value;
    try {
      const { key } = await postJson('/v1/admin/users', {
        name,
        role,
        ...(password === '' ? { key: true } : { password }),
      });
      form.reset();
      setText(this.#problem, '');
      setText(this.#answer, key === undefined ? `${name} can sign in.` : `The key of ${name}, shown this once: ${key}`);
      await this.open();
    } catch (error) {
      setText(this.#problem, error instanceof Error ? error.message : String(error));
    }
  }

  /** @param {User[]} users */
  #draw(users) {
    this.#list.replaceChildren(
      ...users.map(({ name, kind, role, agent }) => {
        const remove = make('button', { type: 'button', class: 'plain', 'aria-label': `Remove ${name}` }, '✕');
        remove.addEventListener('click', () => void this.#remove(name));
        const details = [role, kind === 'key' ? 'key' : 'password', agent === null ? '' : `calls of ${agent}`];
        return make(
          'li',
          {},
          make('b', {}, name),
          make('span', { class: 'quiet' }, details.filter((each) => each !== '').join(' · ')),
          remove,
        );
      }),
    );
    if (users.length === 0)
      this.#list.append(make('li', { class: 'quiet' }, 'None: everybody who has one of API_KEYS is an admin.'));
  }

  /** @param {string} name */
  async #remove(name) {
    const words = `${name} is signed out everywhere and cannot come in again.`;
    if (!(await askToConfirm({ title: `Remove ${name}?`, words, deed: 'Remove' }))) return;
    try {
      await deleteJson(`/v1/admin/users/${encodeURIComponent(name)}`);
      setText(this.#answer, `${name} was removed.`);
      await this.open();
    } catch (error) {
      this.#context.fail(error);
    }
  }
}

export class Audit {
  #context;
  /** @type {string | null} */
  #next = null;
  #rows = make('tbody');
  #more = make('button', { type: 'button', hidden: true }, 'Earlier');
  #details = make(
    'details',
    { class: 'more' },
    make('summary', {}, 'Who read, exported, changed or deleted what'),
    make(
      'div',
      { class: 'audit-scroll', tabindex: '0', role: 'region', 'aria-label': 'Entries of the audit log' },
      make(
        'table',
        { class: 'audit' },
        make(
          'thead',
          {},
          make('tr', {}, ...['When', 'Who', 'What', 'Call'].map((words) => make('th', { scope: 'col' }, words))),
        ),
        this.#rows,
      ),
    ),
    this.#more,
  );
  element = panel('audit', 'Audit log', this.#details);

  /** @param {import('../view.js').ViewContext} context */
  constructor(context) {
    this.#context = context;
    this.#details.addEventListener('toggle', () => {
      if (this.#details.open) void this.#load(null);
    });
    this.#more.addEventListener('click', () => void this.#load(this.#next));
  }

  /** Only admins may read it. */
  open() {
    this.element.hidden = !this.#context.session.may('audit');
  }

  /** @param {string | null} cursor */
  async #load(cursor) {
    try {
      const { data, next } = await getJson(`/v1/audit?limit=50${cursor === null ? '' : `&cursor=${cursor}`}`);
      if (cursor === null) this.#rows.replaceChildren();
      this.#rows.append(...data.map(showEntry));
      this.#next = next;
      this.#more.hidden = next === null;
    } catch (error) {
      if (error instanceof Refusal && error.code === 'records_off')
        this.#rows.replaceChildren(make('tr', {}, make('td', { colspan: 4 }, error.message)));
      else this.#context.fail(error);
    }
  }
}

/** @param {{ at: string, who: string, role: string, action: string, callId: string | null }} entry */
function showEntry({ at, who, role, action, callId }) {
  return make(
    'tr',
    {},
    make('td', {}, make('time', { datetime: at }, new Date(at).toLocaleString())),
    make('td', {}, `${who} (${role})`),
    make('td', {}, action),
    make('td', {}, callId === null ? '' : make('a', { href: addressOf('calls', { id: callId }) }, callId.slice(0, 12))),
  );
}
