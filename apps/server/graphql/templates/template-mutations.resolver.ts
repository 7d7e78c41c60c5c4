import { Context, Mutation, Resolver } from '@nestjs/graphql';
import type { Principal } from '#libs/kernel';
import { TemplateAuthoring, TemplateLifecycle, TemplateTransfer } from '#libs/templates';
import type { OperationContext } from '../engine/operation-context.js';
import { jsonObjectOf } from '../schema/json-input.js';
import { DeletedPayload } from '../schema/payloads.js';
import { InputArg } from '../schema/input-arg.js';
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

  @Mutation(() => TemplatePayload, { description: 'Saves a new template as a draft.' })
  @RootField('template.create')
  async createTemplate(
    @Context() context: OperationContext,
    @InputArg() input: CreateTemplateInput,
  ): Promise<TemplatePayload> {
    await this.authoring.create(context.principal, bodyOf(input));
    return this.#payload(context, input.name);
  }

  @Mutation(() => TemplatePayload, { description: 'Saves a draft over, or begins the next one.' })
  @RootField('template.update')
  async updateTemplate(
    @Context() context: OperationContext,
    @InputArg() input: UpdateTemplateInput,
  ): Promise<TemplatePayload> {
    await this.authoring.update(context.principal, bodyOf(input), input.expectedHash);
    return this.#payload(context, input.name);
  }

  @Mutation(() => TemplatePayload, { description: 'Makes the draft unchangeable and current.' })
  @RootField('template.release')
  async releaseTemplate(
    @Context() context: OperationContext,
    @InputArg() { name, expectedHash }: ReleaseTemplateInput,
  ): Promise<TemplatePayload> {
    await this.lifecycle.release(context.principal, name, expectedHash);
    return this.#payload(context, name);
  }

  /** `{"templates": […]}`, all or nothing. */
  @Mutation(() => ImportedTemplatesPayload, {
    description: 'Takes releases exported elsewhere, all or nothing; repeating it changes nothing.',
  })
  @RootField('template.import')
  async importTemplates(
    @Context() context: OperationContext,
    @InputArg() { definitionJson }: ImportTemplatesInput,
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

  @Mutation(() => DeletedPayload, { description: 'Throws a draft away for good.' })
  @RootField('template.purge_draft')
  async purgeTemplateDraft(
    @Context('principal') caller: Principal,
    @InputArg() { name, expectedHash }: PurgeTemplateDraftInput,
  ): Promise<DeletedPayload> {
    await this.lifecycle.purgeDraft(caller, name, expectedHash);
    return { deletedId: name };
  }

  @Mutation(() => TemplatePayload, {
    description: 'Sets a release aside: it can no longer be pinned, but be restored.',
  })
  @RootField('template.discard')
  async discardTemplateVersion(
    @Context() context: OperationContext,
    @InputArg() { name, version }: DiscardTemplateVersionInput,
  ): Promise<TemplatePayload> {
    await this.lifecycle.discard(context.principal, name, version);
    return this.#payload(context, name);
  }

  @Mutation(() => TemplatePayload, { description: 'Takes a discarded release back.' })
  @RootField('template.restore')
  async restoreTemplateVersion(
    @Context() context: OperationContext,
    @InputArg() { name, version }: RestoreTemplateVersionInput,
  ): Promise<TemplatePayload> {
    await this.lifecycle.restore(context.principal, name, version);
    return this.#payload(context, name);
  }

  @Mutation(() => TemplatePayload, { description: 'Makes another release the one that is pinned by default.' })
  @RootField('template.switch')
  async switchTemplate(
    @Context() context: OperationContext,
    @InputArg() { name, version }: SwitchTemplateInput,
  ): Promise<TemplatePayload> {
    await this.lifecycle.switchCurrent(context.principal, name, version);
    return this.#payload(context, name);
  }

  @Mutation(() => DeletedPayload, {
    description: 'Deletes a draft by its number for good; refused while something pins it.',
  })
  @RootField('template.purge')
  async purgeTemplateVersion(
    @Context('principal') caller: Principal,
    @InputArg() { name, version, expectedHash }: PurgeTemplateVersionInput,
  ): Promise<DeletedPayload> {
    await this.lifecycle.purgeVersion(caller, name, version, expectedHash ?? undefined);
    return { deletedId: `${name}@${version}` };
  }

  @Mutation(() => DeletedPayload, { description: 'Deletes a template that has nothing but a draft for good.' })
  @RootField('template.purge')
  async purgeTemplate(
    @Context('principal') caller: Principal,
    @InputArg() { name, expectedHash }: PurgeTemplateInput,
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
