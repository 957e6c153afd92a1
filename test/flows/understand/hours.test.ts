import { describe, expect, it } from 'vitest';
import { findHoursProblems, isOpen, type OpeningHours } from '../../../src/flows/understand/hours.ts';

const SHOP: OpeningHours = {
  timeZone: 'Europe/Berlin',
  week: { monday: ['09:00-12:30', '14:00-18:00'], saturday: ['22:00-24:00'], sunday: ['00:00-02:00', '02:30-04:00'] },
  holidays: ['12-25', { date: '2026-12-24', name: 'Christmas Eve', open: ['09:00-12:00'] }, { date: '12-24' }, '02-29'],
};

const at = (time: string, hours = SHOP) => isOpen(hours, new Date(time), 'UTC');

describe('the hours of a shop', () => {
  it.each([
    ['2026-11-23T08:59:59+01:00', 'closed'],
    ['2026-11-23T09:00:00+01:00', 'open'],
    ['2026-11-23T12:29:59+01:00', 'open'],
    ['2026-11-23T12:30:00+01:00', 'closed'],
    ['2026-11-23T14:00:00+01:00', 'open'],
    ['2026-11-24T10:00:00+01:00', 'closed'],
  ])('at %s: %s', (time, state) => {
    expect(at(time)).toBe(state);
  });

  it('go on over midnight in two spans', () => {
    expect(at('2026-11-28T23:59:59+01:00')).toBe('open');
    expect(at('2026-11-29T00:00:00+01:00')).toBe('open');
    expect(at('2026-11-29T02:00:00+01:00')).toBe('closed');
  });

  it('are by the clock on the wall when clocks change', () => {
    // At 02:00 it becomes 03:00, so that 02:30 never is.
    expect(at('2026-03-29T01:59:00+01:00')).toBe('open');
    expect(at('2026-03-29T03:00:00+02:00')).toBe('open');
    expect(at('2026-03-29T04:00:00+02:00')).toBe('closed');
    // 02:30 is twice.
    expect(at('2026-10-25T02:30:00+02:00')).toBe('open');
    expect(at('2026-10-25T02:30:00+01:00')).toBe('open');
    expect(at('2026-07-06T09:00:00+02:00')).toBe('open');
  });

  it('are others on a holiday, and a single day goes before a yearly one', () => {
    expect(at('2026-12-25T10:00:00+01:00')).toBe('holiday');
    expect(at('2027-12-25T10:00:00+01:00')).toBe('holiday');
    expect(at('2026-12-24T10:00:00+01:00')).toBe('open');
    expect(at('2026-12-24T15:00:00+01:00')).toBe('holiday');
    expect(at('2027-12-24T10:00:00+01:00')).toBe('holiday');
    expect(at('2028-02-29T10:00:00+01:00')).toBe('holiday');
  });

  it('are of their own time zone', () => {
    const tokyo = { ...SHOP, timeZone: 'Asia/Tokyo' };
    expect(at('2026-11-23T00:30:00Z', tokyo)).toBe('open');
    expect(at('2026-11-23T00:30:00Z')).toBe('closed');
  });

  it('are of the time zone of the flow where they name none', () => {
    const { timeZone: _, ...hours } = SHOP;
    expect(isOpen(hours, new Date('2026-11-23T08:30:00Z'), 'Europe/Berlin')).toBe('open');
    expect(isOpen(hours, new Date('2026-11-23T08:30:00Z'), 'UTC')).toBe('closed');
  });

  it('may be those of a row of days, before which go those of the day', () => {
    const week = { 'monday-friday': ['09:00-17:00'], 'monday-sunday': ['10:00-11:00'], friday: ['09:00-12:00'] };
    const hours = { timeZone: 'UTC', week };
    expect(at('2026-11-23T16:00:00Z', hours)).toBe('open');
    expect(at('2026-11-27T16:00:00Z', hours)).toBe('closed');
    expect(at('2026-11-28T10:30:00Z', hours)).toBe('open');
    expect(at('2026-11-28T16:00:00Z', hours)).toBe('closed');
    expect(findHoursProblems({ week: { 'monday-friday': ['17:00-09:00'] } })).toHaveLength(1);
  });

  it('say what is wrong with them', () => {
    expect(findHoursProblems(SHOP)).toEqual([]);
    expect(
      findHoursProblems({
        timeZone: 'Europe/Atlantis',
        week: { monday: ['22:00-02:00'] },
        holidays: ['25.12.', { date: '2027-02-29', open: ['10:00-10:00'] }],
      }),
    ).toEqual([
      expect.objectContaining({ path: ['timeZone'], message: expect.stringContaining('Europe/Atlantis') }),
      expect.objectContaining({ path: ['week', 'monday', 0], message: expect.stringContaining('22:00-02:00') }),
      expect.objectContaining({ path: ['holidays', 0], message: expect.stringContaining('25.12.') }),
      expect.objectContaining({ message: expect.stringContaining('2027-02-29') }),
      expect.objectContaining({ message: expect.stringContaining('10:00-10:00') }),
    ]);
  });
});
