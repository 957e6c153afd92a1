import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  addParameter,
  parseKeyPresses,
  parseMediaUrl,
  parseMs,
  parseShare,
  parseWebUrl,
  parseWhole,
} from '../../src/cli/arguments.ts';

describe('reading option values', () => {
  it('takes what is well formed', () => {
    expect(parseMs('1500')).toBe(1500);
    expect(parseWhole('7')).toBe(7);
    expect(parseShare('0.02')).toBe(0.02);
    expect(parseShare('1')).toBe(1);
    expect(parseMediaUrl('wss://bridge.example.com/twilio/media')).toBe('wss://bridge.example.com/twilio/media');
    expect(parseWebUrl('http://127.0.0.1:8080/twilio/voice')).toBe('http://127.0.0.1:8080/twilio/voice');
    expect(parseKeyPresses('5@1200, #@0,A@3')).toEqual([
      { digit: '5', atMs: 1200 },
      { digit: '#', atMs: 0 },
      { digit: 'A', atMs: 3 },
    ]);
    expect(addParameter('b=x=y', { a: '1' })).toEqual({ a: '1', b: 'x=y' });
  });

  it.each([
    [parseMs, '-1'],
    [parseMs, '1.5'],
    [parseMs, ''],
    [parseWhole, 'one'],
    [parseShare, '2'],
    [parseShare, '-0.1'],
    [parseShare, '5%'],
    [parseMediaUrl, 'http://127.0.0.1/'],
    [parseMediaUrl, 'bridge'],
    [parseWebUrl, 'ws://127.0.0.1/'],
    [parseKeyPresses, '5'],
    [parseKeyPresses, '55@100'],
    [parseKeyPresses, '5@100,'],
    [(text: string) => addParameter(text, {}), 'name'],
    [(text: string) => addParameter(text, {}), '=value'],
  ])('refuses what is not, saying what was expected', (parse: (text: string) => unknown, text) => {
    expect(() => parse(text)).toThrow(InvalidArgumentError);
    expect(() => parse(text)).toThrow(/^Expected /);
  });
});
