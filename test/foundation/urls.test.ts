import { describe, expect, it } from 'vitest';
import { hideCredentials, hideCredentialsIn } from '../../src/foundation/urls.ts';

describe('URLs', () => {
  it.each([
    ['wss://me:s3cret@app.example.com/calls', 'wss://***@app.example.com/calls'],
    ['https://s3cret@host:8443/a/@scope/b', 'https://***@host:8443/a/@scope/b'],
    ['wss://app.example.com/calls?token=s3cret&room=1', 'wss://app.example.com/calls?token=***&room=***'],
    ['http://host/?s3cret', 'http://host/?***'],
    ['http://host/v1?key=pa=s3cret#s3cret', 'http://host/v1?key=***#***'],
    ['http://host/v1#access_token=s3cret', 'http://host/v1#***'],
    ['HTTPS://me:s3%40cret@[::1]:80/', 'HTTPS://***@[::1]:80/'],
    ['https://me:pa@s3cret@host/', 'https://***@host/'],
    ['https://me:pa/s3cret@host/path', 'https://***@host/path'],
    ['https://me:pa#s3cret@host/path', 'https://***@host/path'],
    ['https://me:pa?s3cret@host/path', 'https://***@host/path'],
    ['sip:me:s3cret@pbx.example.com;transport=tcp', 'sip:***@pbx.example.com;transport=tcp'],
    ['me:s3cret@host/path', '***@host/path'],
    ['postgres://me:s3cret@db/x', 'postgres://***@db/x'],
  ])('keep nothing that opens something: %s', (url, shown) => {
    expect(hideCredentials(url)).toBe(shown);
    expect(hideCredentialsIn(url)).toBe(shown);
  });

  it.each([
    'http://127.0.0.1:8080/',
    'wss://app.example.com/calls',
    'sip:pbx.example.com:5060;transport=tcp',
    'say --url sip:user@address:port',
    'file:///app/node_modules/@fastify/websocket/index.js:10:5',
    'Is it me? Yes: mail me@example.com or call #3.',
    'Note: "please" hold?',
    'http://host/?',
  ])('stay as they are where nothing is secret: %s', (text) => {
    expect(hideCredentials(text)).toBe(text);
    expect(hideCredentialsIn(text)).toBe(text);
  });

  it('are found in a text, each of them', () => {
    const text = 'connect to ws://me:s3cret@a/x?k=s3cret failed, and (https://s3cret@b) too';
    expect(hideCredentials(text)).toBe('connect to ws://***@a/x?k=*** failed, and (https://***@b) too');
  });

  it('are found in a line of JSON, which stays one', () => {
    const line = JSON.stringify({
      msg: 'got "ws://me:s3cret@a?k=s3cret"',
      url: 'ws://b?k=s3cret',
      stack: 'at x\nat ws://s3cret@c',
      mail: 'a@b',
    });
    expect(JSON.parse(hideCredentials(line))).toEqual({
      msg: 'got "ws://***@a?k=***"',
      url: 'ws://b?k=***',
      stack: 'at x\nat ws://***@c',
      mail: 'a@b',
    });
  });

  it('hide what comes after a quote or a space in a value that is one URL', () => {
    for (const odd of ['"', ' ', '\\', '<', '>'])
      expect(hideCredentialsIn(`https://me:pa${odd}s3cret@host/`)).toBe('https://***@host/');
  });

  it('are read in a time that grows with the text alone', () => {
    const long = 'a:'.repeat(200_000);
    expect(hideCredentials(`${long}?`)).toBe(`${long}?`);
    expect(hideCredentials(`http://${long}?`).length).toBeGreaterThan(0);
    const schemes = 'a-'.repeat(500_000);
    expect(hideCredentials(`${schemes}?`)).toBe(`${schemes}?`);
  });
});
