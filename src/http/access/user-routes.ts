/** The users of a server, for admins and `trunkline user`. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { UserAdministration } from '../../records/users/administration.ts';
import type { People } from '../../records/users/people.ts';
import { agentName, newPassword, roleName, type User, userName } from '../../records/users/user.ts';
import { errorResponses } from '../server/errors.ts';
import { nameSchemas } from '../server/named-schemas.ts';
import type { Access } from './access.ts';
import type { AuditSink } from './sign-in-log.ts';

const userAnswer = z.object({
  name: z.string(),
  kind: z.enum(['person', 'key']).describe('`person`: signs in with a password; `key`: a program with a generated key'),
  role: roleName,
  agent: z.string().nullable(),
  createdAt: z.iso.datetime().nullable().describe('Null for users of USERS_FILE'),
});

nameSchemas({ User: userAnswer });

const newUser = z
  .strictObject({
    name: userName,
    role: roleName,
    agent: agentName.optional().describe('Of an agent: the parameter `agent` of their calls; default: the name'),
    password: newPassword.optional(),
    key: z.literal(true).optional().describe('Make a key, which the answer has, this once'),
  })
  .refine(
    ({ password, key }) => (password === undefined) !== (key === undefined),
    'expected `password`, or `key: true`',
  );

const userChange = z
  .strictObject({ role: roleName.optional(), agent: agentName.optional(), password: newPassword.optional() })
  .refine((change) => Object.keys(change).length > 0, 'expected `role`, `agent` or `password`');

const userPath = z.object({ name: z.string().max(64) });

interface UserOptions {
  readonly access: Pick<Access, 'principalOf'>;
  readonly settings: Pick<Settings, 'API_KEYS'>;
  readonly people: People;
  readonly audit: AuditSink | null;
  readonly clock: Clock;
}

type ChangeOptions = UserOptions & {
  /** @throws TrunklineError `not_implemented` when there is no place for users */
  readonly administration: () => UserAdministration;
};

const tags = ['access'];

/** `/v1/admin/users`. Whoever is signed in as a user that is changed or removed is signed out. */
export const userRoutes: FastifyPluginCallbackZod<UserOptions> = (app, options, done) => {
  const changing = { ...options, administration: administrationOf(options) };
  void app.register(readRoute, options);
  void app.register(addRoute, changing);
  void app.register(changeRoute, changing);
  void app.register(removeRoute, changing);
  done();
};

const readRoute: FastifyPluginCallbackZod<UserOptions> = (app, { people }, done) => {
  app.get(
    '/v1/admin/users',
    {
      config: { permission: 'administration' },
      schema: {
        operationId: 'listUsers',
        summary: 'All users',
        tags,
        response: { 200: z.object({ data: z.array(userAnswer) }), ...errorResponses(401, 403, 429) },
      },
    },
    () => ({ data: people.users?.list.all.map(viewOf) ?? [] }),
  );
  done();
};

const addRoute: FastifyPluginCallbackZod<ChangeOptions> = (app, options, done) => {
  app.post(
    '/v1/admin/users',
    {
      config: { permission: 'administration', secretBody: true },
      schema: {
        operationId: 'createUser',
        summary: 'Add a user',
        description:
          'The first user, where there are no API_KEYS, must be an admin: from then on everybody has to sign in.',
        tags,
        body: newUser,
        response: {
          201: userAnswer.extend({ key: z.string().optional().describe('The generated key') }),
          ...errorResponses(400, 401, 403, 409, 429, 501),
        },
      },
    },
    async (request, reply) => {
      const { name, role, agent, password } = request.body;
      const { user, key } = await options.administration().add({ name, role, agent, password });
      note(options, request, 'user.added', { user: name, role });
      return reply.code(201).send({ ...viewOf(user), ...(key !== null && { key }) });
    },
  );
  done();
};

const changeRoute: FastifyPluginCallbackZod<ChangeOptions> = (app, options, done) => {
  app.patch(
    '/v1/admin/users/:name',
    {
      config: { permission: 'administration', secretBody: true },
      schema: {
        operationId: 'updateUser',
        summary: "Change a user's role, agent or password",
        tags,
        params: userPath,
        body: userChange,
        response: { 200: userAnswer, ...errorResponses(400, 401, 403, 404, 409, 429, 501) },
      },
    },
    async (request) => {
      const changed = await options.administration().change(request.params.name, request.body);
      const { name, role } = changed;
      note(options, request, 'user.changed', { user: name, role, password: request.body.password !== undefined });
      return viewOf(changed);
    },
  );
  done();
};

const removeRoute: FastifyPluginCallbackZod<ChangeOptions> = (app, options, done) => {
  app.delete(
    '/v1/admin/users/:name',
    {
      config: { permission: 'administration' },
      schema: {
        operationId: 'deleteUser',
        summary: 'Remove a user',
        tags,
        params: userPath,
        response: { 200: userAnswer, ...errorResponses(401, 403, 404, 409, 429, 501) },
      },
    },
    async (request) => {
      const user = await options.administration().remove(request.params.name);
      note(options, request, 'user.removed', { user: user.name });
      return viewOf(user);
    },
  );
  done();
};

function administrationOf({ people, clock, settings }: UserOptions): () => UserAdministration {
  const { users, passwords } = people;
  if (users === null)
    return () => {
      throw new TrunklineError(
        'not_implemented',
        'there is no place for users: set DATA_DIR, DATABASE_URL or USERS_FILE',
      );
    };
  const hasKeys = settings.API_KEYS.length > 0;
  const administration = new UserAdministration({ users, passwords, clock, hasKeys, isOffline: false });
  return () => administration;
}

type Detail = Readonly<Record<string, unknown>>;

function note(
  { access, audit }: UserOptions,
  request: Parameters<Access['principalOf']>[0],
  action: string,
  detail: Detail,
): void {
  const { name, role } = access.principalOf(request);
  audit?.note({ who: name, role, action, callId: null, detail });
}

function viewOf({ name, kind, role, agent, createdMs }: User): z.infer<typeof userAnswer> {
  return { name, kind, role, agent, createdAt: createdMs === 0 ? null : new Date(createdMs).toISOString() };
}
