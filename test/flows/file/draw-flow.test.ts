import { describe, expect, it } from 'vitest';
import { drawFlow } from '../../../src/flows/file/draw-flow.ts';
import { readFlow } from '../../../src/flows/file/read-flow.ts';

const TEXT = `
version: 1
start: ask
failed: bye
keys: { 0: bye, "*": back }
steps:
  ask:
    menu:
      prompt: 'Say "hours" | or {call.from:phone}'
      choices: { hours: { key: 1, next: tell }, again: { say: [once more], next: repeat } }
      noInput: { next: bye }
  tell: { say: From nine to five., next: who }
  who: { flow: { name: identify } }
  bye: { hangup: { prompt: Bye. } }
`;

describe('a drawing of a flow', () => {
  it('has all steps, with keys, choices and reasons at the arrows', () => {
    const { flow, errors } = readFlow(TEXT, 'shop');
    expect(errors).toEqual([]);
    expect(flow && drawFlow(flow)).toEqual([
      'flowchart TD',
      '  call(("call")) --> s0',
      '  s0{{"menu: ask<br/>Say #34;hours#34; #124; or #123;call.from:phone#125;"}}',
      '  s1["say: tell<br/>From nine to five."]',
      '  s2[["flow: who<br/>identify"]]',
      '  s3(["hangup: bye<br/>Bye."])',
      '  over(("end"))',
      '  before(["back to the question before"])',
      '  anywhere(["wherever the caller is"])',
      '  failed(["a step cannot be done"])',
      '  s0 -->|"1 hours"| s1',
      '  s0 -->|"again"| s0',
      '  s0 -->|"no answer"| s3',
      '  s1 --> s2',
      '  s2 --> over',
      '  anywhere -. "0" .-> s3',
      '  anywhere -. "*" .-> before',
      '  failed -.-> s3',
    ]);
  });
});
