// Rules that would allow a call, ready for a policy file or for `allowedTools`.

import { button, element } from "./element.js";

/** The rules as JSON for a policy file, with a button that copies them. */
export function rulesToPaste(rules) {
  const text = JSON.stringify({ allow: rules }, null, 2);
  const shown = element("pre", { class: "text-box", tabindex: "0" }, text);
  const copy = button("Copy", { class: "small" }, async () => {
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = "Copied";
    } catch {
      // Without access to the clipboard, the text is selected so that the person can copy it.
      getSelection().selectAllChildren(shown);
      copy.textContent = "Selected: press Ctrl+C";
    }
  });
  return element(
    "div",
    { class: "paste" },
    element(
      "div",
      { class: "paste-head" },
      element(
        "span",
        {},
        "A rule to paste into a policy file, or into ",
        element("code", {}, "allowedTools"),
      ),
      copy,
    ),
    shown,
  );
}
