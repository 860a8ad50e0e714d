import { createRequire } from "node:module";
import { expect, test } from "vitest";

const { TaskEvents } = createRequire(import.meta.url)("../../lib/registry/task-events.js") as {
  TaskEvents: new (native: object) => {
    iterate(): AsyncIterableIterator<{ sequence: number }>;
  };
};

test("an iterator that is far too slow gets what fits and then learns what it missed", async () => {
  let tell = (_json: string): void => {};
  const events = new TaskEvents({
    onTaskEvent: (listener: (json: string) => void) => (tell = listener),
    runningTasks: () => 0,
  });
  const slow = events.iterate();
  const quick = events.iterate();
  for (let sequence = 1; sequence <= 16_400; sequence += 1) {
    const next = quick.next();
    tell(JSON.stringify({ sequence }));
    expect((await next).value?.sequence).toBe(sequence);
  }
  for (let sequence = 1; sequence <= 16_384; sequence += 1) {
    expect((await slow.next()).value?.sequence).toBe(sequence);
  }
  // It has room again, but would have a gap.
  tell(JSON.stringify({ sequence: 16_401 }));
  await expect(slow.next()).rejects.toThrow(/it missed those from 16385 to 16401;/);
  expect((await slow.next()).done).toBe(true);
  expect((await quick.next()).value?.sequence).toBe(16_401);
});
