/** Server-sent events of a response body, one by one: `{id, event, data}` with the data parsed. */
export async function* readEvents(body) {
  let buffer = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    buffer += chunk;
    for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
      const fields = Object.fromEntries(
        buffer
          .slice(0, end)
          .split('\n')
          .filter((line) => !line.startsWith(':') && line.includes(': '))
          .map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
      );
      buffer = buffer.slice(end + 2);
      if (fields.event) yield { id: Number(fields.id), event: fields.event, data: JSON.parse(fields.data) };
    }
  }
}
