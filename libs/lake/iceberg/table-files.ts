/** Where the files of one Iceberg table lie: on this machine, or in a bucket. */
export interface TableFiles {
  /** The metadata file that says what the table is now. */
  readonly metadata: string;
  /** A metadata file or manifest; nothing beside the table's own folder is ever read. */
  read(address: string, mostMib: number): Promise<Uint8Array>;
  /** Makes data files readable for the engine, in their order. */
  dataFiles(addresses: readonly string[]): Promise<OpenableFiles>;
}

/** Files the engine can open, and what it must be allowed to open for that. */
export interface OpenableFiles {
  paths: readonly string[];
  allowed: { directories: readonly string[]; paths: readonly string[] };
  release?(): void;
}

/** Finds the table at a location. @throws TableProblem */
export type OpenTable = (location: string, signal: AbortSignal) => Promise<TableFiles>;
