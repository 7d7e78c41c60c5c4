import { Context, Mutation, Resolver } from '@nestjs/graphql';
import { ApiKeyService, SessionService, UserService } from '#libs/identity';
import type { Principal } from '#libs/kernel';
import { DeletedPayload } from '../schema/payloads.js';
import { InputArg } from '../schema/input-arg.js';
import { RootField } from '../schema/root-field.js';
import { IdentityNodes } from './identity-nodes.js';
import { CreateApiKeyInput, RevokeApiKeyInput, RevokeSessionInput, UpdatePreferencesInput } from './identity.inputs.js';
import { CreatedApiKeyPayload, UserPayload } from './identity.types.js';

@Resolver()
export class IdentityMutations {
  constructor(
    private readonly keys: ApiKeyService,
    private readonly sessions: SessionService,
    private readonly users: UserService,
    private readonly nodes: IdentityNodes,
  ) {}

  @Mutation(() => CreatedApiKeyPayload, {
    description: 'Makes a credential for programs; its secret is in this answer and nowhere else.',
  })
  @RootField('api_key.create')
  async createApiKey(
    @Context('principal') caller: Principal,
    @InputArg() { name, kind, scopes, bindings, expiresAt }: CreateApiKeyInput,
  ): Promise<CreatedApiKeyPayload> {
    const { apiKey, key } = await this.keys.create(caller, { name, kind, scopes, bindings, expires_at: expiresAt });
    return { apiKey: this.nodes.apiKey(apiKey), secret: key };
  }

  @Mutation(() => DeletedPayload, { description: 'Calls a key back; requests with it are refused from then on.' })
  @RootField('api_key.own')
  async revokeApiKey(
    @Context('principal') caller: Principal,
    @InputArg() { id }: RevokeApiKeyInput,
  ): Promise<DeletedPayload> {
    await this.keys.revoke(caller, id);
    return { deletedId: id };
  }

  @Mutation(() => UserPayload, { description: 'Changes how the console looks to the viewer.' })
  @RootField('profile.preference')
  async updatePreferences(
    @Context('principal') caller: Principal,
    @InputArg() { themePreference }: UpdatePreferencesInput,
  ): Promise<UserPayload> {
    await this.users.setTheme(caller, themePreference);
    return { user: await this.nodes.self(caller) };
  }

  @Mutation(() => DeletedPayload, {
    description: "Ends one of the viewer's own sessions; that browser has to sign in again.",
  })
  @RootField('session.own')
  async revokeSession(
    @Context('principal') caller: Principal,
    @InputArg() { id }: RevokeSessionInput,
  ): Promise<DeletedPayload> {
    await this.sessions.revoke(caller, id);
    return { deletedId: id };
  }
}
