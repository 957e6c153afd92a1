import assert from 'node:assert/strict';
import { FileError } from '../../../src/foundation/yaml-text.ts';
import { kindOfSecret } from '../../../src/records/users/secrets.ts';
import { parseUsers } from '../../../src/records/users/users-file.ts';
import type { FuzzTarget } from '../fuzz.ts';

const SECRET = `$sha256$${'A'.repeat(43)}`;
const SCRYPT = `$scrypt$ln=4,r=8,p=1$${'A'.repeat(22)}$${'B'.repeat(43)}`;

/** USERS_FILE: whatever is read of it has a known role, a unique name and a kept secret. */
export const target: FuzzTarget = {
  name: 'users-file',
  seeds: [
    `users:\n  - name: ann\n    role: admin\n    secret: ${SECRET}\n`,
    `users:\n  - { name: Bob, role: agent, agent: b, secret: "${SCRYPT}" }\n`,
    `{"users": [{"name": "crm", "role": "app", "secret": "${SECRET}"}]}`,
  ].map((text) => Buffer.from(text)),
  words: [
    '&a ',
    '*a',
    '<<: ',
    '!!js/function ',
    '? ',
    ': ',
    '- ',
    '|\n',
    '\t',
    '\ufeff',
    'İ',
    'admin',
    '---\n',
    '%YAML 1.1\n',
  ],
  run(input) {
    try {
      const users = parseUsers(Buffer.from(input).toString('utf8'), 'users.yaml');
      assert.equal(new Set(users.map(({ name }) => name)).size, users.length);
      for (const { role, agent, secret, kind } of users) {
        assert.equal(kindOfSecret(secret), kind);
        assert.equal(role === 'agent', agent !== null);
      }
    } catch (error) {
      assert(error instanceof FileError, error as Error);
    }
  },
};
