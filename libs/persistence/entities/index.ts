/** Every entity, as the data source wants them. */
export const entities: readonly Function[] = [];
