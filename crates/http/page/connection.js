// Keeps the page up to date: reads the server's events and reconnects when the connection is lost. After each
// connection the lists are loaded again, so that nothing is missed between the lists and the events.

import { followEvents } from "./api.js";
import { loadAll, setConnection, take } from "./state.js";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
const REFUSALS = new Set([401, 403]);

let wake = () => {};

/** Reads events for as long as the page is open. Returns only if the server refuses access, with the error. */
export async function stayConnected() {
  let pause = FIRST_PAUSE_MS;
  for (;;) {
    let lostBy = "The server has ended the connection.";
    try {
      for await (const message of followEvents()) {
        if (message.event !== "open") {
          take(message);
          continue;
        }
        await loadAll();
        setConnection("open");
        pause = FIRST_PAUSE_MS;
      }
    } catch (error) {
      if (REFUSALS.has(error.status)) return error;
      lostBy =
        error.status > 0 ? `The server says: ${error.message}.` : "The server does not answer.";
    }
    setConnection("lost", lostBy);
    await untilNextTry(pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

/** Reconnects at once instead of waiting. */
export function tryNow() {
  wake();
}

function untilNextTry(ms) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
