// What is shown instead of everything else while the server does not let us in.

import { button, element, fill } from "./element.js";
import { inline } from "./prose.js";
import { keepToken, token } from "./token.js";

/** Asks for the token. Resolves once there is one to try. */
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
      // People paste the whole address as often as the token.
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
                had && ". Each start makes a new token, so an older address no longer works",
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
