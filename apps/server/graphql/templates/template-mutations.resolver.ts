import { Args, Context, Mutation, Resolver } from '@nestjs/graphql';
import type { Principal } from '#libs/kernel';
import { TemplateAuthoring, TemplateLifecycle, TemplateTransfer } from '#libs/templates';
import type { OperationContext } from '../engine/operation-context.js';
import { jsonObjectOf } from '../schema/json-input.js';
import { DeletedPayload } from '../schema/payloads.js';
import { RootField } from '../schema/root-field.js';
import { TemplateNodes } from './template-nodes.js';
import {
  CreateTemplateInput,
  DiscardTemplateVersionInput,
  ImportTemplatesInput,
  PurgeTemplateDraftInput,
  PurgeTemplateInput,
  PurgeTemplateVersionInput,
  ReleaseTemplateInput,
  RestoreTemplateVersionInput,
  SwitchTemplateInput,
  UpdateTemplateInput,
} from './template.inputs.js';
import { ImportedTemplatesPayload, TemplatePayload } from './template.types.js';

@Resolver()
export class TemplateMutations {
  constructor(
    private readonly authoring: TemplateAuthoring,
    private readonly lifecycle: TemplateLifecycle,
    private readonly transfer: TemplateTransfer,
    private readonly nodes: TemplateNodes,
  ) {}

  @Mutation(() => TemplatePayload)
  @RootField('template.create')
  async createTemplate(
    @Context() context: OperationContext,
    @Args('input') input: CreateTemplateInput,
  ): Promise<TemplatePayload> {
    await this.authoring.create(context.principal, bodyOf(input));
    return this.#payload(context, input.name);
  }

  @Mutation(() => TemplatePayload)
  @RootField('template.update')
  async updateTemplate(
    @Context() context: OperationContext,
    @Args('input') input: UpdateTemplateInput,
  ): Promise<TemplatePayload> {
    await this.authoring.update(context.principal, bodyOf(input), input.expectedHash);
    return this.#payload(context, input.name);
  }

  @Mutation(() => TemplatePayload)
  @RootField('template.release')
  async releaseTemplate(
    @Context() context: OperationContext,
    @Args('input') { name, expectedHash }: ReleaseTemplateInput,
  ): Promise<TemplatePayload> {
    await this.lifecycle.release(context.principal, name, expectedHash);
    return this.#payload(context, name);
  }

  /** `{"templates": […]}`, all or nothing. */
  @Mutation(() => ImportedTemplatesPayload)
  @RootField('template.import')
  async importTemplates(
    @Context() context: OperationContext,
    @Args('input') { definitionJson }: ImportTemplatesInput,
  ): Promise<ImportedTemplatesPayload> {
    const report = await this.transfer.import(context.principal, jsonObjectOf(definitionJson, 'definitionJson'));
    return {
      templates: report.templates.map(({ id, version, body_hash, imported }) => ({
        name: id,
        version,
        bodyHash: body_hash,
        imported,
      })),
    };
  }

  @Mutation(() => DeletedPayload)
  @RootField('template.purge_draft')
  async purgeTemplateDraft(
    @Context('principal') caller: Principal,
    @Args('input') { name, expectedHash }: PurgeTemplateDraftInput,
  ): Promise<DeletedPayload> {
    await this.lifecycle.purgeDraft(caller, name, expectedHash);
    return { deletedId: name };
  }

  @Mutation(() => TemplatePayload)
  @RootField('template.discard')
  async discardTemplateVersion(
    @Context() context: OperationContext,
    @Args('input') { name, version }: DiscardTemplateVersionInput,
  ): Promise<TemplatePayload> {
    await this.lifecycle.discard(context.principal, name, version);
    return this.#payload(context, name);
  }

  @Mutation(() => TemplatePayload)
  @RootField('template.restore')
  async restoreTemplateVersion(
    @Context() context: OperationContext,
    @Args('input') { name, version }: RestoreTemplateVersionInput,
  ): Promise<TemplatePayload> {
    await this.lifecycle.restore(context.principal, name, version);
    return this.#payload(context, name);
  }

  @Mutation(() => TemplatePayload)
  @RootField('template.switch')
  async switchTemplate(
    @Context() context: OperationContext,
    @Args('input') { name, version }: SwitchTemplateInput,
  ): Promise<TemplatePayload> {
    await this.lifecycle.switchCurrent(context.principal, name, version);
    return this.#payload(context, name);
  }

  @Mutation(() => DeletedPayload)
  @RootField('template.purge')
  async purgeTemplateVersion(
    @Context('principal') caller: Principal,
    @Args('input') { name, version, expectedHash }: PurgeTemplateVersionInput,
  ): Promise<DeletedPayload> {
    await this.lifecycle.purgeVersion(caller, name, version, expectedHash ?? undefined);
    return { deletedId: `${name}@${version}` };
  }

  @Mutation(() => DeletedPayload)
  @RootField('template.purge')
  async purgeTemplate(
    @Context('principal') caller: Principal,
    @Args('input') { name, expectedHash }: PurgeTemplateInput,
  ): Promise<DeletedPayload> {
    await this.lifecycle.purge(caller, name, expectedHash ?? undefined);
    return { deletedId: name };
  }

  async #payload(context: OperationContext, name: string): Promise<TemplatePayload> {
    return { template: await this.nodes.load(context, name), warnings: [] };
  }
}

/** The input as the REST body it stands for; what is null is left out. */
function bodyOf(input: CreateTemplateInput | UpdateTemplateInput): Record<string, unknown> {
  const { name, dialect, displayName, description, isLibrary, imports, body } = input;
  const members = {
    id: name,
    dialect,
    display_name: displayName,
    description,
    is_library: isLibrary,
    imports: imports?.map((pin) => ({ id: pin.name, version: pin.version, alias: pin.alias })),
    body,
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value != null));
}
