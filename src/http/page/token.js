// The token by which the server knows us. It arrives in the fragment of the printed address, which no server
// and no log sees, and is taken out of the address at once.

const KEY = "toolwright-token";

/** Takes the token out of the address, if there is one. Says whether there was. */
export function takeToken() {
  const found = /^#token=(.*)$/s.exec(location.hash);
  if (!found) return false;
  keepToken(decoded(found[1]));
  // Not a new entry: going back must not bring the token back.
  history.replaceState(null, "", `${location.pathname}${location.search}#/tools`);
  return true;
}

/** Keeps a token for this tab, until it is closed. */
export function keepToken(token) {
  sessionStorage.setItem(KEY, token.trim());
}

/** The token, if there is one. */
export function token() {
  return sessionStorage.getItem(KEY) ?? undefined;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
