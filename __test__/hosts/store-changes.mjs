// One of several processes that change the same values of a store: a counter and a list, in turn.
import { change, openStore } from "../support/store-clients.mjs";

const { server, client, url, settings, name, changes } = JSON.parse(process.argv[2] ?? "");
const { store, close } = await openStore(server, client, url, settings);
for (let made = 0; made < changes; made += 1) {
  if (made % 2 === 0) {
    await change(store, "counter", (old = "0") => String(Number(old) + 1));
  } else {
    await change(store, "list", (old = "[]") =>
      JSON.stringify([...JSON.parse(old), `${name}:${made}`]),
    );
  }
}
await close();
