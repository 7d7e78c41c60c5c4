/** The remembered version is no longer the one the pipeline's pointer names, or is not released any more: nothing was launched. */
export class VersionMoved extends Error {}
