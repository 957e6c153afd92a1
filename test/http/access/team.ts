/** The people of the tests of roles, and how requests of theirs are made and read. */
import { FakePeople } from '../../fakes/people.ts';

/** Ann administers, sue supervises, bob and eve are agents, crm is a program. */
export const team = () =>
  new FakePeople()
    .with('ann', 'admin')
    .with('sue', 'supervisor')
    .with('bob', 'agent', { agent: 'bob' })
    .with('eve', 'agent', { agent: 'eve' })
    .with('crm', 'app', { kind: 'key' });

/** The code of an error's answer. */
export const codeOf = (answer: { body: string }) => (JSON.parse(answer.body) as { error: { code: string } }).error.code;

/** The header of a request with this key. */
export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
