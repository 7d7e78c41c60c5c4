/** The tabs a first visitor finds: each runs as it stands, once an id of the workspace is put where one is asked for. */
export const examples = [
  {
    query: `# Who you are and where you may act.
query Viewer {
  viewer {
    user { email displayName }
    activeWorkspace { name displayName }
    capabilities
  }
}
`,
  },
  {
    query: `# The pipelines of this workspace with what runs when you run them.
query Pipelines {
  pipelines(first: 10) {
    totalCount
    nodes {
      id
      name
      displayName
      current { number status releasedAt }
      lastExecution { id status durationMs resultRowCount }
    }
  }
}
`,
  },
  {
    query: `# Run a pipeline by id; then read its result with the query below.
mutation Run($id: ID!, $parameters: JsonText) {
  executePipeline(input: { id: $id, parametersJson: $parameters }) {
    execution { id status startedAt }
  }
}
`,
    variables: `{ "id": "", "parameters": "{}" }`,
  },
  {
    query: `# The result of a run: its columns and the first rows.
query Result($id: ID!) {
  execution(id: $id) {
    status
    error { code userMessage }
    result(limit: 20) { schema { name type } rows totalRows hasMore }
  }
}
`,
    variables: `{ "id": "" }`,
  },
  {
    query: `# Templates with the pipelines that use them, and the nodes that could pin a newer release.
query Templates {
  templates(first: 10, orderBy: { field: UPDATED_AT, direction: DESC }) {
    nodes {
      name
      currentVersion
      usedBy(first: 5) { totalCount nodes { number pipeline { name } upgradeAvailable } }
    }
  }
}
`,
  },
  {
    query: `# Every event of a run, live or replayed.
subscription Events($id: ID!) {
  executionEvents(executionId: $id) { eventId type timestamp payload }
}
`,
    variables: `{ "id": "" }`,
  },
];
