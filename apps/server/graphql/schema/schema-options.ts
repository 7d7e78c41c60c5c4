import type { GqlModuleOptions } from '@nestjs/graphql';

/** Built in memory, sorted, so that its printed form depends on nothing but the classes. */
export const schemaOptions: GqlModuleOptions = {
  autoSchemaFile: true,
  sortSchema: true,
  buildSchemaOptions: { noDuplicatedFields: true },
};
