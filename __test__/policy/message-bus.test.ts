import { describe, expect, test } from "vitest";
import { MessageBus } from "../../index.mjs";
import type { ConfirmationResponse, ConfirmationSettled } from "../../index.js";
import { rejectionOf } from "../support/misuse";

const details = { toolName: "Bash", description: "ls", risk: "high" as const };

describe("a message bus", () => {
  test("asks its listeners and returns their answer", async () => {
    const bus = new MessageBus();
    const settled: ConfirmationSettled[] = [];
    bus.on("settled", (event) => settled.push(event));
    let id = "";
    bus.once("request", (request) => {
      ({ id } = request);
      expect(request).toEqual({ id, details, timeout: 60_000 });
      bus.respondToConfirmation({ id, approved: true });
    });
    expect(await bus.requestConfirmation(details)).toBe(true);
    await expect.poll(() => settled).toEqual([{ id, outcome: "approved" }]);
  });

  test("refuses at once without a listener", async () => {
    const bus = new MessageBus();
    const listener = () => {};
    bus.on("request", listener);
    bus.off("request", listener);
    const error = await rejectionOf(bus.requestConfirmation(details));
    expect(error.type).toBe("PolicyDenied");
    expect(error.message).toContain("no listener is registered");
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("no screen");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no screen"))],
  ])("refuses when its listener %s", async (_how, listener) => {
    const bus = new MessageBus();
    bus.on("request", listener);
    const error = await rejectionOf(bus.requestConfirmation(details));
    expect(error.type).toBe("PolicyDenied");
    expect(error.message).toContain("the listener failed: no screen");
  });

  test.each([["true"], [1], [{}], [[true]], [undefined], [null], [NaN]])(
    "treats approved: %j as a denial",
    async (approved) => {
      const bus = new MessageBus();
      bus.on("request", ({ id }) =>
        bus.respondToConfirmation({ id, approved } as unknown as ConfirmationResponse),
      );
      expect(await bus.requestConfirmation(details)).toBe(false);
    },
  );

  test("counts only the first answer", async () => {
    const bus = new MessageBus();
    const heard: boolean[] = [];
    bus.on("request", ({ id }) => {
      heard.push(bus.respondToConfirmation({ id, approved: false }));
      heard.push(bus.respondToConfirmation({ id, approved: true }));
    });
    expect(await bus.requestConfirmation(details)).toBe(false);
    expect(heard).toEqual([true, false]);
    expect(bus.respondToConfirmation({ id: "unknown", approved: true })).toBe(false);
  });

  test("a cancelled request is refused, and cancelled once", async () => {
    const bus = new MessageBus();
    const heard: boolean[] = [];
    bus.on("request", ({ id }) => heard.push(bus.cancelRequest(id), bus.cancelRequest(id)));
    expect((await rejectionOf(bus.requestConfirmation(details))).type).toBe("Cancelled");
    expect(heard).toEqual([true, false]);
  });

  test("an invalid request, timeout or answer is refused", async () => {
    const bus = new MessageBus();
    // @ts-expect-error details are an object
    expect((await rejectionOf(bus.requestConfirmation("Bash"))).type).toBe("InvalidOptions");
    for (const timeout of [0, -1, NaN, Infinity, 2 ** 31]) {
      const refused = rejectionOf(bus.requestConfirmation(details, undefined, timeout));
      expect((await refused).type).toBe("InvalidOptions");
    }
    // @ts-expect-error an answer needs an id
    expect(() => bus.respondToConfirmation({ approved: true })).toThrow("the request's `id`");
  });

  test("a thousand simultaneous requests are all settled", async () => {
    const bus = new MessageBus();
    bus.on("request", ({ id }) => queueMicrotask(() => bus.cancelRequest(id)));
    const requests = Array.from({ length: 1000 }, () => bus.requestConfirmation(details));
    const settled = await Promise.allSettled(requests);
    expect(settled.every(({ status }) => status === "rejected")).toBe(true);
  });
});
