import { describe, expect, it } from 'vitest';
import { dialTwiml, failedDial } from '../../../src/protocols/twiml/dial.ts';

const inside = (to: string, from: string | null = null, timeoutMs = 30_000): string | undefined =>
  /<Response>(.*)<\/Response>$/.exec(dialTwiml({ to, from, timeoutMs, action: null }) ?? '')?.[1];

describe('TwiML that gives a call to somebody else', () => {
  it.each([
    ['+493012345', '<Number>+493012345</Number>'],
    ['+49 (30) 123-45', '<Number>+493012345</Number>'],
    ['sip:sales@example.com;transport=tcp', '<Sip>sip:sales@example.com;transport=tcp</Sip>'],
    ['sip:a@b?x-y=1&z=2', '<Sip>sip:a@b?x-y=1&amp;z=2</Sip>'],
    ['client:tom', '<Client>tom</Client>'],
  ])('calls %s', (to, whom) => {
    expect(inside(to)).toBe(`<Dial timeout="30">${whom}</Dial>`);
  });

  it('has Twilio say what became of it', () => {
    const request = { to: '+493012345', from: null, timeoutMs: 30_000, action: 'https://b.example.com/after?a=1&b=2' };
    expect(dialTwiml(request)).toContain('<Dial timeout="30" action="https://b.example.com/after?a=1&amp;b=2">');
  });

  it.each([
    ['busy', 'busy'],
    ['no-answer', 'unanswered'],
    ['failed', 'refused'],
    ['canceled', 'refused'],
    ['completed', null],
    ['answered', null],
    ['', null],
  ])('that is %j comes to %j', (status, became) => {
    expect(failedDial(status)).toBe(became);
  });

  it('names another caller where one is given', () => {
    expect(inside('+493012345', '+49"30')).toBe(
      '<Dial timeout="30" callerId="+49&quot;30"><Number>+493012345</Number></Dial>',
    );
  });

  it.each([
    [0, 5],
    [5001, 6],
    [9_000_000, 600],
  ])('rings for %i ms as Twilio can: %i s', (timeoutMs, seconds) => {
    expect(inside('+493012345', null, timeoutMs)).toContain(`timeout="${seconds}"`);
  });

  it.each(['', 'sales/6002', '6', 'sip:nobody', 'client:', 'sip:a@b"/><Hangup/>', '+49<Sip>', 'tel:+4930'])(
    'calls nobody for %j',
    (to) => {
      expect(dialTwiml({ to, from: null, timeoutMs: 30_000, action: null })).toBeNull();
    },
  );
});
