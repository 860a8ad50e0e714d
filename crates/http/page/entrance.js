// The login form, which replaces the whole page while the server refuses access.

import { button, element, fill } from "./element.js";
import { inline } from "./prose.js";
import { keepToken, token } from "./token.js";

/** Asks for the token. Resolves once one was entered. */
export function askForToken(node, error) {
  return new Promise((resolve) => {
    const had = token() !== undefined;
    const field = element("input", {
      id: "token",
      type: "password",
      autocomplete: "off",
      required: true,
    });
    const enter = () => {
      // People often paste the whole URL instead of the token.
      keepToken(field.value.replace(/^.*#token=/s, ""));
      resolve();
    };
    const isAboutToken = error.status === 401;
    fill(
      node,
      element(
        "section",
        { class: "entrance" },
        element(
          "h1",
          { tabindex: "-1" },
          !isAboutToken
            ? "The server refuses this page"
            : had
              ? "The token is not right"
              : "A token is needed",
        ),
        element("p", {}, inline(error.message)),
        isAboutToken
          ? [
              element(
                "p",
                {},
                "Open the address that the server printed when it started: it ends with ",
                element("code", {}, "#token=…"),
                had && ". Each start generates a new token, so an older address no longer works",
                ".",
              ),
              element(
                "form",
                {
                  on: {
                    submit: (event) => {
                      event.preventDefault();
                      enter();
                    },
                  },
                },
                element("label", { for: "token" }, "Or paste the token or the whole address here"),
                field,
                element("button", { type: "submit", class: "primary" }, "Enter"),
              ),
            ]
          : button("Try again", { class: "primary" }, () => resolve()),
      ),
    );
    node.querySelector("h1").focus();
  });
}
