import { Query, Resolver } from '@nestjs/graphql';
import { Configuration } from '#libs/kernel';
import { MailNotices } from '#libs/mail';
import { postureOf } from '#libs/templates';
import { BuildInfo } from '../../health/build-info.js';
import { RootField } from '../schema/root-field.js';
import { InstanceType } from './instance.types.js';

/** What every build of this version serves beyond the core; a client shows the places of what is named here. */
const FEATURES = ['calculators', 'checks', 'lake', 'mcp', 'semantics'] as const;

/** What a client has to know of the deployment before it shows anything. */
@Resolver(() => InstanceType)
export class InstanceResolver {
  constructor(
    private readonly configuration: Configuration,
    private readonly build: BuildInfo,
    private readonly mail: MailNotices,
  ) {}

  @Query(() => InstanceType, { name: 'instance', description: 'What this deployment is and which bounds it sets.' })
  @RootField('profile.read')
  instance(): InstanceType {
    const { configuration } = this;
    return {
      version: this.build.version,
      env: configuration.get('datapipelines.env'),
      posture: configuration.get('datapipelines.posture'),
      authoringEnabled: postureOf(configuration).authoringEnabled,
      localAccounts: configuration.get('datapipelines.auth.local.enabled'),
      mailEnabled: this.mail.enabled,
      memberDatasourcesEnabled: configuration.get('datapipelines.workspaces.member-datasources-enabled'),
      graphiqlEnabled: configuration.get('datapipelines.graphql.graphiql'),
      demo: configuration.get('datapipelines.demo'),
      defaultTheme: configuration.get('datapipelines.ui.theme'),
      baseUrl: configuration.get('datapipelines.auth.base-url'),
      features: FEATURES,
      limits: {
        resultPageRows: configuration.get('datapipelines.result.page-max-rows'),
        resultMaxBytes: configuration.get('datapipelines.result.max-size-bytes'),
        maxRequestBytes: configuration.get('datapipelines.limits.max-request-bytes'),
        maxBodyChars: configuration.get('datapipelines.templates.max-body-chars'),
        nodeTimeoutMax: configuration.get('datapipelines.executor.node-timeout-max-seconds'),
      },
    };
  }
}
