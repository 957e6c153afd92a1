/** Examples of flows, their prompts and their figures. */
import type { Examples } from './example.ts';

const state = {
  name: 'orders',
  file: 'orders.yaml',
  about: 'Asks for the order number and says where the parcel is',
  state: 'used',
  version: '9c1f02ab',
  since: '2026-11-20T07:00:00.000Z',
  refusedSince: null,
  errors: [],
  warnings: [{ line: 14, column: 5, message: 'the step `hours` is never reached' }],
};
const recording = { path: 'en/welcome.wav', language: 'en', name: 'welcome', durationMs: 2400, error: null };
const rendering = { isRunning: true, flows: 2, flowsDone: 1, sentences: 40, made: 17, failed: 0, ms: 5200 };

/** By `operationId`. */
export const flowExamples: Examples = {
  listFlows: {
    response: {
      data: [{ ...state, calls: { count: 128, isMore: false, last: '2026-11-24T09:30:00.000Z' } }],
      next: null,
    },
  },
  getFlow: {
    response: {
      ...state,
      flows: [
        {
          name: 'orders',
          start: 'ask',
          keys: { '0': 'desk' },
          steps: [
            {
              name: 'ask',
              verb: 'gather',
              says: 'Please say your order number.',
              calls: null,
              exits: [
                { reason: 'next', to: 'answer', detail: null },
                { reason: 'noMatch', to: 'desk', detail: null },
              ],
            },
          ],
        },
      ],
    },
  },
  getFlowStatistics: {
    response: {
      flow: 'orders',
      from: '2026-11-17T00:00:00.000Z',
      to: '2026-11-24T00:00:00.000Z',
      version: null,
      calls: 128,
      isComplete: true,
      outcomes: { done: 90, transferred: 21, hangup: 15, failed: 1, lost: 0, underWay: 1 },
      versions: [
        { version: '9c1f02ab', calls: 128, first: '2026-11-20T07:02:00.000Z', last: '2026-11-23T18:40:00.000Z' },
      ],
      steps: [
        {
          flow: 'orders',
          step: 'ask',
          verb: 'gather',
          calls: 128,
          visits: 141,
          underWay: 1,
          exits: [{ kind: 'step', flow: 'orders', step: 'answer', reason: 'match', detail: null, count: 111 }],
          matches: 111,
          noMatches: 13,
          noInputs: 4,
          time: { p50Ms: 6400, p95Ms: 14200 },
          hangups: 12,
          unmatched: [{ text: 'I do not have it here', kind: 'speech', count: 3 }],
        },
      ],
    },
  },
  listFlowPrompts: {
    response: {
      data: [
        {
          id: '5f0c0a9b7b0d4a0e8f7f2a6e4c1b9d3a',
          flow: 'orders',
          step: 'ask',
          part: 'say',
          language: 'en',
          voice: 'hibari',
          text: 'Please say your order number.',
          recording: null,
          source: 'made',
        },
      ],
      next: null,
    },
  },
  renderFlowPrompts: { response: rendering },
  getFlowPromptRendering: { response: rendering },
  listFlowRecordings: { response: { data: [recording], next: null } },
  createFlowRecording: { form: { file: 'welcome.wav', name: 'welcome', language: 'en' }, response: recording },
};
