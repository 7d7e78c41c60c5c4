import { z } from 'zod';
import type { AccountView, ApiKeyRecord, MailSendView, MeView, SessionView } from '#libs/identity';
import { moment, named, uuid, whole } from './envelope.js';

export const memberFlags = z.object({ author: z.boolean(), promoter: z.boolean(), admin: z.boolean() });

export const meView = named<MeView>(
  'Me',
  z.object({
    user_id: uuid,
    email: z.string(),
    display_name: z.string(),
    auth_method: z.enum(['session', 'api_key']),
    scopes: z.array(z.enum(['read', 'execute', 'author'])),
    key_id: z.string().optional(),
    workspace: z.object({ name: z.string(), flags: memberFlags }).optional(),
    super_admin: z.boolean(),
    must_change_password: z.boolean(),
    theme_preference: z.string().nullable(),
  }),
);

export const sessionView = named<SessionView>(
  'Session',
  z.object({
    id: uuid,
    amr: z.enum(['pwd', 'oidc']),
    provider: z.string(),
    created_at: moment,
    expires_at: moment,
    last_seen_at: moment,
    source_ip: z.string().nullable(),
    user_agent: z.string().nullable(),
    is_current: z.boolean(),
  }),
);

const keyMembers = {
  id: z.string(),
  name: z.string(),
  kind: z.enum(['user', 'endpoint', 'server']),
  scopes: z.array(z.string()),
  owner: z.object({ id: uuid, display_name: z.string() }),
  workspace: z.object({ id: uuid, name: z.string() }),
  is_revoked: z.boolean(),
  created_at: moment,
  expires_at: moment.nullable(),
  last_used_at: moment.nullable(),
  last_used_ip: z.string().nullable(),
  last_used_user_agent: z.string().nullable(),
};
export const apiKey = named<ApiKeyRecord>('ApiKey', z.object(keyMembers));
export const mintedKey = z
  .object({ ...keyMembers, key: z.string().describe('The secret: in this answer and nowhere else, ever.') })
  .meta({ id: 'MintedApiKey' });

const accountMembers = {
  id: uuid,
  email: z.string(),
  display_name: z.string(),
  profile_picture_url: z.string().nullable(),
  provider: z.string(),
  is_active: z.boolean(),
  is_admin: z.boolean(),
  theme_preference: z.string().nullable(),
  has_password: z.boolean(),
  password_changed_at: moment.nullable(),
  must_change_password: z.boolean(),
  failed_login_count: whole.nullable(),
  locked_until: moment.nullable(),
  created_at: moment,
  updated_at: moment,
  last_login_at: moment.nullable(),
};
export const account = named<AccountView>('Account', z.object(accountMembers));
export const mintedAccount = z
  .object({
    ...accountMembers,
    one_time_password: z.string().optional().describe('Only where no mail takes it to its owner.'),
  })
  .meta({ id: 'MintedAccount' });

export const mailSend = named<Omit<MailSendView, 'cursor' | 'kind'>>(
  'MailSend',
  z.object({
    id: z.string(),
    user_id: uuid,
    kind: z.string(),
    recipient: z.string(),
    status: z.enum(['PENDING', 'SENT', 'FAILED']),
    claimed_at: moment,
    sent_at: moment.nullable(),
    message_id: z.string().nullable(),
    error: z.string().nullable(),
  }),
);

export const signInWays = z
  .object({
    local: z.boolean(),
    providers: z.array(z.object({ name: z.string(), display_name: z.string() })),
  })
  .loose()
  .meta({ id: 'SignInWays' });
