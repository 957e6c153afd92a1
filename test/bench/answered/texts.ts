/** What people, machines and menus say when they are called. */
export interface AnswerTexts {
  readonly people: readonly string[];
  /** With pauses between their parts. */
  readonly slowPeople: readonly (readonly string[])[];
  readonly shortMachines: readonly string[];
  readonly longMachines: readonly string[];
  readonly menus: readonly string[];
}

const FIRST: AnswerTexts = {
  people: [
    'Hello?',
    'Hello.',
    'Yes?',
    'Hi, this is Martin.',
    'Hello, who is this?',
    'Good morning, Parker Dental, how can I help you?',
    'Susan speaking.',
    'Thank you for calling Brightwater Insurance, this is Helen, how may I help you today?',
    'Johnson residence.',
    'Hello, Peter Miller.',
  ],
  slowPeople: [
    ['Hello?', 'Who is there?'],
    ['Good afternoon,', 'this is Margaret Hill.'],
  ],
  shortMachines: [
    'Please leave a message after the tone.',
    'Hi, this is Mike. Leave me a message.',
    'You have reached the voicemail of Anna Brown.',
    'We are not available right now.',
  ],
  longMachines: [
    'Hello, you have reached the Wilson family. We cannot come to the phone right now, but if you leave your name ' +
      'and ' +
      'number after the beep, we will call you back as soon as we can.',
    'Hi! This is Karen. I am either away from my desk or on the other line. Please leave a detailed message, and ' +
      'have ' +
      'a great day.',
    'The person you are calling cannot take your call at the moment. At the tone, please record your message. When ' +
      'you ' +
      'have finished recording, you may hang up, or press one for more options.',
  ],
  menus: [
    'Welcome to City Bank. For account information, press one. For lost or stolen cards, press two. To speak to an ' +
      'agent, press zero.',
    'Thank you for calling Harbour Airlines. Your call may be recorded. Please listen carefully, as our menu options ' +
      'have changed.',
  ],
};

const SECOND: AnswerTexts = {
  people: [
    'Hello?',
    'Hello, hello?',
    'Hi.',
    'Yeah?',
    'Hello, this is Robert speaking.',
    'Good evening.',
    'Baker and Sons, good morning.',
    'Front desk, Laura here.',
    'Hello, Doctor Green.',
    'Good afternoon, Lakeside Hotel, Daniel speaking, how may I direct your call?',
    'Customer service, this is Emma, what can I do for you?',
    "Hi, it's Tom.",
    'Who is calling, please?',
    'Thanks for calling the Corner Bookshop, Julia speaking.',
    'Kitchen.',
    'Sales department, James Carter.',
  ],
  slowPeople: [
    ['Hello?', 'Is anybody there?'],
    ['Yes,', 'hello?'],
    ['This is', 'Walter Brooks.'],
    ['Good morning,', 'Hartley Clinic,', 'one moment please.'],
  ],
  shortMachines: [
    'Leave your name and number.',
    "You've reached Steve. Leave a message.",
    "I can't answer the phone. Speak after the beep.",
    'The mailbox of Linda Gray.',
    "It's Jenny, you know what to do.",
    'Nobody is home. Talk to the machine.',
  ],
  longMachines: [
    "Hey there, this is Paul's phone. I must have missed you. Tell me who you are and why you rang, and I will " +
      'ring you ' +
      'back this evening.',
    'Thank you for calling Meadow Veterinary Clinic. Our office is currently closed. If this is an emergency, please ' +
      'hang up and call the animal hospital. Otherwise leave a message, and we will return your call tomorrow.',
    'Your call has been forwarded to an automatic voice message system. Five five five, zero one four two, is not ' +
      'available. At the tone, please record your message.',
    'Good day. You are connected to the answering service of Fisher and Lane, attorneys at law. All of our staff are ' +
      'busy at this time. Kindly state your name, your number, and the reason for your call.',
    'Hello! Guess what, we are all on holiday until the end of the month, so you will have to try us again in ' +
      'August, ' +
      'or write to us, which is always a pleasure to read.',
  ],
  menus: [
    'Hello and welcome to Northern Gas. If you are calling about a bill, say bill. If you smell gas, say emergency.',
    'You are through to the library. For opening times, press one. To renew a book, press two.',
    'Thank you for holding. All our agents are busy. You are number four in the queue.',
    'Press one for English. Press two for other languages.',
    'Welcome to Metro Cinemas. To hear what is on tonight, press the star key, or stay on the line for our box office.',
  ],
};

const THIRD: AnswerTexts = {
  people: [
    'Hello?',
    'Hey, hello?',
    'Yes, hello.',
    'Speaking.',
    'Hi there.',
    'Good morning.',
    'Hello, Catherine here.',
    'This is Doctor Osborne.',
    'Reception, can I help you?',
    'Workshop, Frank on the line.',
    'Oak Street Pharmacy, good afternoon.',
    'Hello, you are speaking with Megan from the Riverside Garden Centre, what can I get you?',
    "Thank you for calling Pine Valley Motors, you're speaking with Oliver.",
    'Accounts, Priya, good morning, how are you today?',
    "Hi, mom's phone, she is driving.",
    'What is it?',
    'Hello, who am I speaking to?',
    'Mister Henderson.',
  ],
  slowPeople: [
    ['Hello,', 'who is it?'],
    ['Er,', 'good evening.'],
    ['You are talking to', 'Agnes Miller.'],
    ['One second,', 'I am just', 'finding my glasses.'],
  ],
  shortMachines: [
    'This is Greg, I am not around, say something nice.',
    'Please leave your message now.',
    'Hi, Clara here, message me after the tone.',
    'You have got the voicemail of Nick.',
    'Sorry, we are closed.',
    'I will phone you back.',
  ],
  longMachines: [
    'Hello. This is the automatic assistant of Green and Partners. Nobody can come to the telephone at present. ' +
      'When you ' +
      'hear the signal, tell us your name and what it is about.',
    "Hi, you've called Sophie and Ben. We are probably out with the dog, so please let us know that you rang, and " +
      'one of ' +
      'us is going to get back to you before dinner.',
    'The subscriber you are trying to reach has their phone switched off. Please try again later, or send a text ' +
      'message.',
    'Welcome to the voice messaging service. The owner of the number you dialed has not recorded a greeting. Start ' +
      'speaking after the tone, and hang up when you are done.',
    'Good evening, and thank you for your call to the Elm Grove Surgery. The surgery opens again at eight tomorrow ' +
      'morning. In an emergency, dial nine one one.',
  ],
  menus: [
    'Thank you for calling Skyline Energy. To report a power cut, press one. To pay a bill, press two.',
    'Hello. For quality and training, this call is recorded. Which department would you like? You can say sales, ' +
      'service, or parts.',
    'You are in a queue. One of our advisers will be with you shortly. Did you know that you can also find us online?',
    'If you know the extension of the person you want, enter it now.',
    'Welcome to First Street Credit Union. Please say or enter your member number, followed by the pound key.',
  ],
};

const SEEN = [FIRST, SECOND, THIRD];

/** Texts that the rules were tuned on. */
export const TUNED: AnswerTexts = {
  people: SEEN.flatMap(({ people }) => people),
  slowPeople: SEEN.flatMap(({ slowPeople }) => slowPeople),
  shortMachines: SEEN.flatMap(({ shortMachines }) => shortMachines),
  longMachines: SEEN.flatMap(({ longMachines }) => longMachines),
  menus: SEEN.flatMap(({ menus }) => menus),
};

/** Others. */
export const HELD_OUT: AnswerTexts = {
  people: [
    'Hello?',
    'Hello, hello.',
    'Yep?',
    'Good afternoon.',
    'Hi, Sarah speaking.',
    'Thompson household.',
    'Hello, Victor here, who is calling?',
    "Jack's garage, what can we do for you?",
    'Law offices of Stone and Weaver, Monica speaking.',
    'Good morning, this is the front office of Maple Elementary School, how can I help?',
    'Thank you for calling Blue Door Pizza, is this for pickup or delivery?',
    "It's me.",
    'Hello, sorry, I was just in the garden.',
    'Information desk.',
    'Yes, this is Nathan Ward.',
    'Hey, what is up?',
    'Support, Isabel, hi.',
    'Doctor Fleming, hello.',
  ],
  slowPeople: [
    ['Hello?', 'Hello?'],
    ['Good day,', 'Arthur Collins.'],
    ['Who', 'is speaking, please?'],
    ['Yes,', 'this is', 'Mrs Patterson.'],
  ],
  shortMachines: [
    'Hi, this is Laura, leave a message.',
    'Not here right now, please leave your name.',
    "This is Dan's voicemail.",
    'Speak after the tone.',
    'You have reached five five five, zero one seven three.',
    'The person at extension twelve is unavailable.',
  ],
  longMachines: [
    "Hello, and thanks for ringing. This is Eric's mobile. I am in a meeting or driving. Give me your name and a " +
      'short ' +
      'message, and I shall be in touch as soon as I am free.',
    'You have reached the after hours line of Summit Plumbing. We are open from seven to four. If you have a burst ' +
      'pipe, ' +
      'hang up and dial our emergency number.',
    'The customer you have called is not able to take your call. Please leave a message after the beep.',
    'Hi, you are through to the Parkers. None of us can get to the phone, so leave us a message, and have a lovely ' +
      'day.',
    'We are sorry. The number you have dialed has been changed. The new number is five five five, zero one two zero.',
  ],
  menus: [
    'Welcome to Green Cross Pharmacy. To refill a prescription, press one. For all other questions, press two.',
    'Thank you for calling Union Telephone. For service in English, press one.',
    'This is the automated attendant of Riverside College. If you know the extension, dial it at any time.',
    'Hello, you have called the tax office. All lines are busy. Please hold, and your call will be answered in turn.',
    'Please say the name of the department that you would like to speak to.',
  ],
};
