/** A reason why a row cannot be promoted now. */
export interface PromotionRefusal {
  code: string;
  message: string;
  details: Record<string, unknown>;
}

/** A pipeline that has something newer than the target. */
export interface Candidate {
  pipeline_id: string;
  name: string;
  display_name: string;
  version: number;
  body_hash: string;
  /** 0 where the target does not have it. */
  target_version: number;
  target_body_hash: string | null;
  /** Empty: it may be promoted. */
  refusals: readonly PromotionRefusal[];
}

/** What could be promoted from a workspace now. `target` is null where none is configured. */
export interface PromotionView {
  source_env: string;
  workspace: string;
  target: { base_url: string; deployment: string; authoring_enabled: boolean } | null;
  candidates: readonly Candidate[];
  /** Of all candidates; as many as one promotion may send are listed. */
  total: number;
}

export interface SentEntry {
  name: string;
  version: number;
  /** False: the target had it already. */
  imported: boolean;
}

/** What a promotion did. All lists are empty when the target had everything. */
export interface PromotionReport {
  workspace: string;
  target: { base_url: string; deployment: string };
  templates: readonly SentEntry[];
  /** `switched`: it became the current version there now. */
  pipelines: readonly (SentEntry & { switched: boolean })[];
  endpoints: readonly { path: string; pipeline: string; changed: boolean }[];
  /** Entries that were not even sent, because the target has them as they are here. */
  skipped: number;
}
