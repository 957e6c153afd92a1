import { describe, expect, it } from 'vitest';
import { answer } from './question.ts';

describe('times of day as they are said', () => {
  it.each([
    ['half past nine', '09:30'],
    ['half nine', '09:30'],
    ['quarter to five pm', '16:45'],
    ['a quarter past eight in the morning', '08:15'],
    ['quarter to one', '12:45'],
    ['ten to five', '16:50'],
    ['twenty past seven', '07:20'],
    ['seven minutes past eight', '08:07'],
    ['twenty minutes to nine', '08:40'],
    ['noon', '12:00'],
    ['Midnight.', '00:00'],
    ['14:30', '14:30'],
    ['9:30 AM.', '09:30'],
    ['9:30', '09:30'],
    ['03:00', '03:00'],
    ['3:00', '15:00'],
    ['nine thirty in the evening', '21:30'],
    ['nine oh five', '09:05'],
    ['at 3 p.m.', '15:00'],
    ['8am', '08:00'],
    ["three o'clock", '15:00'],
    ["three o'clock in the morning", '03:00'],
    ['twelve thirty', '12:30'],
    ['twelve thirty a m', '00:30'],
    ['12 noon', '12:00'],
    ['fourteen hundred hours', '14:00'],
    ['fifteen thirty', '15:30'],
    ['eleven at night', '23:00'],
    ['around seven in the evening, please', '19:00'],
    ['five', '17:00'],
    ['seven', '07:00'],
    ['nine, no wait, ten', '10:00'],
    ['in half an hour', '07:30'],
    ['in twenty minutes', '07:20'],
    ['in an hour', '08:00'],
    ['right now', '07:00'],
  ])('understands %j', (text, time) => {
    expect(answer('time', text)).toBe(time);
  });

  it.each(['nine to five', 'between nine and ten', 'nine or ten', 'twenty five', 'I do not know', '25:00', '9:75', ''])(
    'finds no single time in %j',
    (text) => {
      expect(answer('time', text)).toBeNull();
    },
  );

  it.each([
    ['halb zehn', '09:30'],
    ['viertel nach neun', '09:15'],
    ['viertel zehn', '09:15'],
    ['dreiviertel zehn', '09:45'],
    ['viertel vor fünf', '16:45'],
    ['fünf vor halb zehn', '09:25'],
    ['zehn vor fünf', '16:50'],
    ['vierzehn Uhr dreißig', '14:30'],
    ['14 Uhr 30', '14:30'],
    ['9.30 Uhr', '09:30'],
    ['acht Uhr abends', '20:00'],
    ['drei Uhr nachts', '03:00'],
    ['um drei', '15:00'],
    ['Mitternacht', '00:00'],
    ['in einer halben Stunde', '07:30'],
    ['in zwei Stunden', '09:00'],
  ])('understands German: %j', (text, time) => {
    expect(answer('time', text, { language: 'de' })).toBe(time);
  });

  it.each([
    ['las nueve y media', '09:30'],
    ['las nueve y diez', '09:10'],
    ['las cinco menos cuarto', '16:45'],
    ['a las tres de la tarde', '15:00'],
    ['a las tres de la madrugada', '03:00'],
    ['al mediodía', '12:00'],
  ])('understands Spanish: %j', (text, time) => {
    expect(answer('time', text, { language: 'es' })).toBe(time);
  });

  it.each([
    ['neuf heures et demie', '09:30'],
    ['cinq heures moins le quart', '16:45'],
    ['14h30', '14:30'],
    ['midi et quart', '12:15'],
    ['huit heures du soir', '20:00'],
    ['vingt heures quinze', '20:15'],
  ])('understands French: %j', (text, time) => {
    expect(answer('time', text, { language: 'fr' })).toBe(time);
  });
});
