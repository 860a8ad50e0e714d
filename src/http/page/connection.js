// Keeps the page in step with the server: reads its events, and connects again after a loss. Each time, the
// lists are asked for again once events flow, so that nothing is missed between the two.

import { followEvents } from "./api.js";
import { loadAll, setConnection, take } from "./state.js";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
const REFUSALS = new Set([401, 403]);

let wake = () => {};

/** Follows the server for as long as the page is open. Ends only if the server refuses us, with its error. */
export async function stayConnected() {
  let pause = FIRST_PAUSE_MS;
  for (;;) {
    let lostBy = "The server has ended the connection.";
    try {
      for await (const told of followEvents()) {
        if (told.event !== "open") {
          take(told);
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

/** Tries at once instead of waiting for the next turn. */
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
