/** Examples of keys, sessions and users. */
import type { Examples } from './example.ts';

const ann = { name: 'ann', kind: 'person', role: 'supervisor', agent: null, createdAt: '2026-11-02T08:15:00.000Z' };
const desk = { name: 'desk', kind: 'key', role: 'app', agent: null, createdAt: '2026-11-02T08:20:00.000Z' };

/** By `operationId`. */
export const accessExamples: Examples = {
  createSession: { request: { name: 'ann', password: 'a long enough password' } },
  getSession: {
    response: {
      name: 'ann',
      role: 'agent',
      agent: 'ann',
      session: true,
      permissions: ['session', 'docs', 'calls.read', 'calls.listen', 'calls.act', 'calls.note', 'models'],
    },
  },
  listUsers: { response: { data: [ann, desk] } },
  createUser: { request: { name: 'desk', role: 'app', key: true }, response: { ...desk, key: 'tl_2xA9…' } },
  updateUser: { request: { role: 'agent', agent: 'ann' }, response: { ...ann, role: 'agent', agent: 'ann' } },
  deleteUser: { response: ann },
  createDeepgramKey: { request: { ttl_seconds: 300 }, response: { access_token: 'tls_7f1c…', expires_in: 300 } },
  listDeepgramProjects: { response: { projects: [{ project_id: 'trunkline', name: 'Trunkline' }] } },
  createRealtimeSecret: {
    request: { expires_after: { anchor: 'created_at', seconds: 600 }, session: { type: 'transcription' } },
    response: {
      value: 'tls_9b2e…',
      expires_at: 1793008200,
      session: { id: 'sess_new', object: 'realtime.transcription_session', type: 'transcription' },
    },
  },
};
