// The access token of the server. It arrives in the fragment of the printed URL, which browsers never send, and
// is removed from the URL at once.

const KEY = "toolwright-token";

/** Moves the token from the URL to the tab's storage. Returns false if there is none in the URL. */
export function takeToken() {
  const found = /^#token=(.*)$/s.exec(location.hash);
  if (!found) return false;
  keepToken(decoded(found[1]));
  // Replaces the history entry, so that going back does not show the token again.
  history.replaceState(null, "", `${location.pathname}${location.search}#/tools`);
  return true;
}

/** Stores a token for this tab, until it is closed. */
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
