// Parses server-sent events from the body of a `fetch`, because `EventSource` cannot send a token.

/** The events of a body: `{ event, data, id }`. Comments are skipped. */
export async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let fields = {};
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop();
      for (const line of lines) {
        if (line !== "") {
          addField(fields, line);
          continue;
        }
        if (fields.data !== undefined)
          yield { event: "message", ...fields, data: fields.data.join("\n") };
        fields = {};
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function addField(fields, line) {
  const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line);
  if (name === "data") (fields.data ??= []).push(value);
  else if (name === "event" || name === "id") fields[name] = value;
}
