/** Which flow a call follows. */
import { describe, expect, it } from 'vitest';
import { type CallFlow, type CallFlows, chooseFlow } from '../../../src/calls/app/call-flows.ts';

const flow = (name: string): CallFlow => ({ name, version: '00000000', open: () => expect.unreachable() });
/** `shop` and `lines`; +49301234 has `lines`. */
const flows: CallFlows = {
  named: (name) => (name === 'shop' || name === 'lines' ? flow(name) : null),
  calledAt: (told) => (told === '+49301234' ? flow('lines') : null),
};

const choose = (parameters: Record<string, string>, start: Partial<Parameters<typeof chooseFlow>[0]> = {}) =>
  chooseFlow({ parameters, playback: 'paced', to: '+49301234', ...start }, flows);
const nameOf = (...call: Parameters<typeof choose>) => choose(...call)?.flow?.name ?? null;

describe('the flow of a call', () => {
  it('is the one that a parameter names, whatever the case of its name', () => {
    expect(nameOf({ flow: 'shop' })).toBe('shop');
    expect(nameOf({ FLOW: ' shop ', app: 'wss://app.example.com' })).toBe('shop');
  });

  it('is else that of the called number', () => {
    expect(nameOf({})).toBe('lines');
    expect(nameOf({}, { to: '+49305678' })).toBeNull();
    expect(nameOf({}, { to: null })).toBeNull();
  });

  it('is none where the call names an app or TwiML', () => {
    expect(choose({ App: 'wss://app.example.com' })).toBeNull();
    expect(choose({ twiml: 'https://app.example.com' })).toBeNull();
    expect(choose({}, { relay: null })).toBeNull();
  });

  it('is not that of a number that we call', () => {
    expect(nameOf({}, { outgoing: true })).toBeNull();
    expect(nameOf({ flow: 'shop' }, { outgoing: true })).toBe('shop');
  });

  it('is none where the carrier takes no sound', () => {
    expect(choose({ flow: 'shop' }, { playback: 'none' })).toBeNull();
  });

  it('is that of the number where none has the name that was given, and else the name is told', () => {
    expect(choose({ flow: 'shap' })).toEqual({ name: 'lines', flow: expect.objectContaining({ name: 'lines' }) });
    expect(choose({ flow: 'shap' }, { to: null })).toEqual({ name: 'shap', flow: null });
    expect(choose({ flow: 'x'.repeat(300) }, { to: null })).toEqual({ name: 'x'.repeat(64), flow: null });
    expect(chooseFlow({ parameters: {}, playback: 'paced', to: '+49301234' }, null)).toBeNull();
  });
});
