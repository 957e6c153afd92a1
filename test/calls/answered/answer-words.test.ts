import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../../src/calls/answered/answer-words.ts';

describe('the first words of whoever answers', () => {
  it.each([
    'Hello?',
    'hello hello',
    'Yes.',
    'Good morning',
    'Hi, who is this?',
    'Harper Legal, this is Nina, how may I help you?',
    'Brown speaking.',
    'Ja bitte?',
    'Schmidt und Söhne, was kann ich für Sie tun?',
    'Guten Tag.',
    '¿Diga?',
    '¿En qué puedo ayudarle?',
    'Allô ?',
    "Martin à l'appareil",
    'Pronto?',
    'Mi dica.',
  ])('"%s" are those of a person', (text) => {
    expect(readAnswer(text)).toBe('person');
  });

  it.each([
    'Please leave a message after the tone.',
    "Hi, you've reached Ben",
    'We are not available right now',
    'I cannot come to the phone',
    'Press one for sales',
    'For billing, press 2.',
    'You know what to do',
    'Nobody is home, talk to the machine',
    'The number you have dialed is not in service.',
    'Your call has been forwarded to an automatic voice message system',
    "I'll call you back as soon as I can",
    'Bitte hinterlassen Sie eine Nachricht nach dem Signalton.',
    'Der angerufene Teilnehmer ist zurzeit nicht erreichbar.',
    'Für den Verkauf drücken Sie die Eins',
    'Por favor, deje su mensaje después del tono',
    'Marque uno para ventas',
    'La persona a la que llama no está disponible',
    'Veuillez laisser un message après le bip sonore',
    'Vous êtes bien chez Marie',
    'Lasciate un messaggio dopo il segnale acustico',
    'Risponde la segreteria telefonica',
  ])('"%s" are those of a machine', (text) => {
    expect(readAnswer(text)).toBe('machine');
  });

  it('may be those of both, or of nobody in particular', () => {
    expect(readAnswer('Thank you for calling Miller and Sons')).toBe('company');
    expect(readAnswer('Good afternoon, Lakeside Hotel, Daniel speaking, how may')).toBe('company');
    expect(readAnswer('Willkommen bei der Stadtbank')).toBe('company');
    expect(readAnswer('Peter Miller')).toBeNull();
    expect(readAnswer('Hi, this is Ann')).toBeNull();
    expect(readAnswer('')).toBeNull();
  });

  it('are those of a machine where a hello comes before', () => {
    expect(readAnswer('Hello! We are on holiday. Leave your number.')).toBe('machine');
  });

  it('are read in a time that does not grow faster than they do', () => {
    const texts = [
      'ja bitte '.repeat(2000).concat('x'),
      'for a '.repeat(5000),
      'leave a a a '.repeat(3000),
      `hello ${'hello '.repeat(5000)}x`,
    ];
    for (const text of texts) expect(readAnswer(text)).not.toBe('machine');
  });
});
