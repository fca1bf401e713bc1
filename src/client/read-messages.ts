/** A message of a stream of server-sent events. */
export interface StreamMessage {
  event: string;
  id: string;
  data: string;
}

/** The messages of a stream of server-sent events, as ACOR writes them: each field once, on a line. */
export async function* readMessages(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamMessage> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        const message = messageIn(block);
        if (message !== undefined) yield message;
      }
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** Undefined for a comment, which keeps the connection alive. */
function messageIn(block: string): StreamMessage | undefined {
  const message: StreamMessage = { event: 'message', id: '', data: '' };
  for (const line of block.split('\n')) {
    const [, name, value] = /^(event|id|data): (.*)$/s.exec(line) ?? [];
    if (name !== undefined) message[name as keyof StreamMessage] = value!;
  }
  return message.data === '' ? undefined : message;
}
