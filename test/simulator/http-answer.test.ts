import { expect, it } from 'vitest';
import { describeAnswer } from '../../src/simulator/http-answer.ts';

it.each([
  [503, '{"error":{"code":"too_many_calls","message":"40 calls are live"}}', '503 too_many_calls: 40 calls are live'],
  [403, '{"error":{"code":"signature_invalid"}}', '403 signature_invalid'],
  [502, '<h1>Bad gateway</h1>\r\n', '502: <h1>Bad gateway</h1>'],
  [500, '', '500'],
  [500, '{"error":null}', '500: {"error":null}'],
  [400, '{"error":{"code":"x","message":"a\\u001b[2Jb"}}', '400 x: a [2Jb'],
  [500, 'y'.repeat(1000), `500: ${'y'.repeat(200)}`],
])('an answer %i %j reads %s', (status, body, words) => {
  expect(describeAnswer(status, body)).toBe(words);
});
