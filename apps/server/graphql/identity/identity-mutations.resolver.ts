import { Args, Context, Mutation, Resolver } from '@nestjs/graphql';
import { ApiKeyService, SessionService, UserService } from '#libs/identity';
import type { Principal } from '#libs/kernel';
import { DeletedPayload } from '../schema/payloads.js';
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

  @Mutation(() => CreatedApiKeyPayload)
  @RootField('api_key.create')
  async createApiKey(
    @Context('principal') caller: Principal,
    @Args('input') { name, kind, scopes, bindings, expiresAt }: CreateApiKeyInput,
  ): Promise<CreatedApiKeyPayload> {
    const { apiKey, key } = await this.keys.create(caller, { name, kind, scopes, bindings, expires_at: expiresAt });
    return { apiKey: this.nodes.apiKey(apiKey), secret: key };
  }

  @Mutation(() => DeletedPayload)
  @RootField('api_key.own')
  async revokeApiKey(
    @Context('principal') caller: Principal,
    @Args('input') { id }: RevokeApiKeyInput,
  ): Promise<DeletedPayload> {
    await this.keys.revoke(caller, id);
    return { deletedId: id };
  }

  @Mutation(() => UserPayload)
  @RootField('profile.preference')
  async updatePreferences(
    @Context('principal') caller: Principal,
    @Args('input') { themePreference }: UpdatePreferencesInput,
  ): Promise<UserPayload> {
    await this.users.setTheme(caller, themePreference);
    return { user: await this.nodes.self(caller) };
  }

  @Mutation(() => DeletedPayload)
  @RootField('session.own')
  async revokeSession(
    @Context('principal') caller: Principal,
    @Args('input') { id }: RevokeSessionInput,
  ): Promise<DeletedPayload> {
    await this.sessions.revoke(caller, id);
    return { deletedId: id };
  }
}
