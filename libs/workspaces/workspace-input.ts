import { PenstockError, type MemberFlags } from '#libs/kernel';

const NAME = /^[a-z0-9_-]{1,63}$/;
const MAX_DISPLAY_NAME = 100;

/** @throws `workspace.validation.name_invalid` */
export function workspaceName(name: unknown): string {
  if (typeof name === 'string' && NAME.test(name)) return name;
  throw new PenstockError('workspace.validation.name_invalid', {
    message: 'A workspace name has 1 to 63 characters of a-z, 0-9, "_" and "-".',
    details: { field: 'name', pattern: '[a-z0-9_-]{1,63}' },
  });
}

/** Trimmed, 1–100 characters, one line. @throws the generic 400 with `field` */
export function displayName(text: unknown): string {
  const trimmed = typeof text === 'string' ? text.trim() : '';
  if (trimmed === '' || Array.from(trimmed).length > MAX_DISPLAY_NAME || /\p{Cc}/u.test(trimmed)) {
    refuseField('display_name');
  }
  return trimmed;
}

/** Flags of a body, absent ones false; `admin` brings `author` with it (seed §4.12). @throws the generic 400 with `field` */
export function memberFlags(body: Readonly<Record<string, unknown>>): MemberFlags {
  const [author, promoter, admin] = (['author', 'promoter', 'admin'] as const).map((flag) => {
    const value = body[flag] ?? false;
    return typeof value === 'boolean' ? value : refuseField(flag);
  }) as [boolean, boolean, boolean];
  return { author: author || admin, promoter, admin };
}

export function refuseField(field: string): never {
  throw new PenstockError('pipeline.execution.invalid_parameter_type', { details: { field, reason: 'field' } });
}
