/**
 * Passwords that everybody tries first, described by how they are built: a popular stem or two, a keyboard walk or a
 * repetition, dressed up with digits, years and punctuation. This reaches what no list has yet (next year's number, one
 * more sign); what breaches really contain is listed in `breached-passwords.ts`.
 */
const STEMS = `
password passwort passw0rd passphrase contrasena motdepasse senha parola wachtwoord
admin administrator administrador root superuser sysadmin system manager master boss owner operator
welcome welcome welkom willkommen bienvenue bienvenido hello hallo bonjour letmein opensesame sesame changeme changeit
change me please default temp temporary secret secure security private guest user username login account access
test testing tester demo sample example dummy student teacher office company business service support server
database oracle postgres mysql datapipelines pipeline penstock windows linux ubuntu google facebook microsoft apple
samsung internet computer laptop iphone android network wireless
qwerty qwertz azerty asdf asdfgh zxcv zxcvbn qwer qazwsx qweasd poiuyt mnbvcx
iloveyou ilove love lover lovely loveme you me my baby babe honey sweetheart sweetie darling angel princess prince queen
king sunshine rainbow flower butterfly diamond cookie chocolate banana cherry orange peanut butter pepper ginger
dragon monkey tiger lion eagle wolf panther shark dolphin horse bear puppy kitty kitten doggy turtle unicorn
football baseball basketball soccer hockey tennis golf swimming liverpool arsenal chelsea barcelona madrid juventus
cowboys yankees lakers patriots steelers redsox ferrari porsche mustang corvette harley yamaha mercedes
superman batman spiderman ironman starwars pokemon pikachu naruto minecraft gandalf skywalker matrix ninja samurai
warrior hunter killer shadow phoenix thunder lightning storm midnight galaxy cosmos
michael jordan jennifer jessica michelle ashley nicole daniel andrew joshua matthew anthony william charlie thomas
robert george alexander benjamin samantha amanda elizabeth victoria christian jonathan patrick maria carlos jesus
summer winter spring autumn fall january february march april may june july august september october november december
monday tuesday wednesday thursday friday saturday sunday today forever always freedom liberty america england france
germany deutschland espana italia brasil canada mexico london berlin paris newyork texas california
mother father mommy daddy family friend friends sister brother money lucky heaven happy smile peace power trust no one
fuck fuckyou fucking shit bitch asshole whatever nothing nopass nopassword blink trustno
`;

const stems = [...new Set(STEMS.trim().split(/\s+/))].sort((a, b) => b.length - a.length);
/** Stems a single common password strings together; a real passphrase has more words, and rarer ones. */
const MAX_STEMS = 3;

const KEYBOARD = [
  '1234567890',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
  'azertyuiop',
  'abcdefghijklmnopqrstuvwxyz',
];
const WALKS = KEYBOARD.flatMap((row) => [row + row, reversed(row + row)]);
const COLUMNS = '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p';
const WALK_LENGTH = 4;

const LEET: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/** Whether a password is one of those an attacker tries first. */
export function isCommonPassword(password: string): boolean {
  const lower = password.normalize('NFKC').toLowerCase();
  return isBuilt(lower) || isBuilt(unleet(lower)) || isBuilt(unleet(lower.replace(/[^\p{L}]+$/u, '')));
}

function isBuilt(text: string): boolean {
  const letters = text.replace(/[^\p{L}\p{N}]+/gu, '');
  return letters === '' || isRepetition(letters) || consumesAll(letters, MAX_STEMS);
}

/** `abcabcabc`, `aaaaaaaaaaaa`: a unit of at most six characters, again and again. */
function isRepetition(text: string): boolean {
  return /^(.{1,6}?)\1+.{0,5}$/u.test(text) && new Set(text).size <= 6;
}

/** Whether the text falls apart into digits, walks over the keyboard and at most `stemsLeft` stems, nothing left over. */
function consumesAll(text: string, stemsLeft: number): boolean {
  if (text === '') return true;
  const digits = /^\d+/.exec(text)?.[0];
  if (digits !== undefined && consumesAll(text.slice(digits.length), stemsLeft)) return true;
  const walk = walkLength(text);
  if (walk > 0 && consumesAll(text.slice(walk), stemsLeft)) return true;
  return (
    stemsLeft > 0 && stems.some((stem) => text.startsWith(stem) && consumesAll(text.slice(stem.length), stemsLeft - 1))
  );
}

/** Length of the longest keyboard walk at the start; 0 when there is none worth the name. */
function walkLength(text: string): number {
  for (let length = Math.min(text.length, COLUMNS.length); length >= WALK_LENGTH; length -= 1) {
    const start = text.slice(0, length);
    if (COLUMNS.includes(start) || WALKS.some((walk) => walk.includes(start))) return length;
  }
  return 0;
}

function unleet(text: string): string {
  return Array.from(text, (symbol) => LEET[symbol] ?? symbol).join('');
}

function reversed(text: string): string {
  return Array.from(text).reverse().join('');
}
