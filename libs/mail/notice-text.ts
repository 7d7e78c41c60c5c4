import type { Notice } from './notice.js';

/** A message before it has headers: the same content as text and as HTML. */
export interface NoticeText {
  subject: string;
  text: string;
  html: string;
}

export interface NoticeFacts {
  /** Origin of this server. */
  baseUrl: string;
  oneTimePasswordHours: number;
  resetTokenMinutes: number;
}

/** A line of a message: a sentence, something to type, or a link. */
type Line = { say: string } | { type: string } | { link: string };

/** What a notice says. Everything that came from outside is escaped in the HTML. */
export function noticeText(notice: Notice, facts: NoticeFacts): NoticeText {
  const [subject, lines] = content(notice, facts);
  return { subject, text: `${lines.map(plain).join('\n\n')}\n`, html: page(subject, lines) };
}

function content(notice: Notice, facts: NoticeFacts): [subject: string, lines: Line[]] {
  const { baseUrl } = facts;
  const { email, displayName } = notice.person;
  const hello: Line = { say: `Hello ${displayName},` };
  if (notice.kind === 'new_user') {
    return [
      `New account: ${email}`,
      [
        { say: `${displayName} (${email}) has an account at ${baseUrl} now. It was made by ${notice.origin}.` },
        { say: 'No answer is needed. Nothing in this message opens the account.' },
      ],
    ];
  }
  if ('resetToken' in notice) {
    return [
      'Choose a new password',
      [
        hello,
        { say: `Somebody asked to reset the password of ${email} at ${baseUrl}. To choose a new one, open this link:` },
        { link: `${baseUrl}/reset-password#token=${notice.resetToken}` },
        { say: `It works once, for ${amount(facts.resetTokenMinutes, 'minute')}. If it was not you, do nothing.` },
      ],
    ];
  }
  const oneTime: Line[] = [
    { say: `Sign in as ${email} with this one-time password:` },
    { type: notice.oneTimePassword },
    { link: `${baseUrl}/login` },
    {
      say: `It works for ${amount(facts.oneTimePasswordHours, 'hour')}; at the first sign-in you choose a password of your own.`,
    },
  ];
  return notice.kind === 'welcome'
    ? ['Your account is ready', [hello, { say: `An administrator made you an account at ${baseUrl}.` }, ...oneTime]]
    : [
        'Your password was reset',
        [hello, { say: `An administrator reset your password at ${baseUrl} and ended your sessions.` }, ...oneTime],
      ];
}

function amount(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

function plain(line: Line): string {
  if ('say' in line) return oneLine(line.say);
  return 'type' in line ? `    ${line.type}` : line.link;
}

/** A name with line breaks must not write paragraphs of its own. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}

function page(subject: string, lines: readonly Line[]): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>
<body style="font:16px/1.5 system-ui,sans-serif;color:#1a2029;margin:0;padding:24px;background:#f6f7f9">
<div style="max-width:32em;margin:auto;padding:24px;background:#fff;border:1px solid #d8dde4;border-radius:12px">
${lines.map(block).join('\n')}
</div>
</body>
</html>
`;
}

function block(line: Line): string {
  if ('say' in line) return `<p>${escapeHtml(oneLine(line.say))}</p>`;
  if ('type' in line) return `<p style="font:20px/1.4 ui-monospace,monospace">${escapeHtml(line.type)}</p>`;
  const link = escapeHtml(line.link);
  return `<p><a href="${link}" style="color:#0b6bcb;overflow-wrap:anywhere">${link}</a></p>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
