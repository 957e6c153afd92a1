import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  addParameter,
  parseCount,
  parseKeyPresses,
  parseMediaUrl,
  parseMoment,
  parseMs,
  parseShare,
  parseWebUrl,
  parseWhole,
} from '../../src/cli/arguments.ts';

const NOW = new Date('2026-11-22T09:30:00Z');

describe('reading option values', () => {
  it('takes what is well formed', () => {
    expect(parseMs('1500')).toBe(1500);
    expect(parseWhole('7')).toBe(7);
    expect(parseCount('20')).toBe(20);
    expect(parseMoment('90m', NOW)).toBe('2026-11-22T08:00:00.000Z');
    expect(parseMoment('7d', NOW)).toBe('2026-11-15T09:30:00.000Z');
    expect(parseMoment('2026-11-01', NOW)).toBe(new Date(2026, 10, 1).toISOString());
    expect(parseMoment('2026-11-01T10:00+02:00', NOW)).toBe('2026-11-01T08:00:00.000Z');
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
    [parseCount, '0'],
    [(text: string) => parseMoment(text, NOW), '7w'],
    [(text: string) => parseMoment(text, NOW), '2026-13-01'],
    [(text: string) => parseMoment(text, NOW), '12'],
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
